# train.gp: losses, and test accuracy, by epoch: a panel each.
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] { load 'lines.gp' }
