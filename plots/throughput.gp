# throughput.gp: throughput against batch: a panel per group, a line per device count.
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] { load 'lines.gp' }
