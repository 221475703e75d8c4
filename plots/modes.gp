# modes.gp: DataParallel beside DistributedDataParallel: step time, bytes and memory against devices.
set grid xtics ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] { load 'lines.gp' }
