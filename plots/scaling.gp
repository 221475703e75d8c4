# scaling.gp: step time, speed-up and efficiency against devices: a row per group, a line per batch.
set grid xtics ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] { load 'lines.gp' }
