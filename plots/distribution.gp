# distribution.gp: the share of steps that took no longer than so long: a line per device count.
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] { load 'lines.gp' }
