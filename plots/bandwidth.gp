# bandwidth.gp: bus bandwidth of collectives against bytes, both logarithmic: a panel per collective,
# type, communicator and place, on the same axes; a line per number of devices.
#
# Columns: bytes, GB/s, its range, 1: hollow.
x_name = "bytes of each device"
y_name = "bus bandwidth (GB/s)"
set autoscale # ranges of what was drawn before would leave out points
unset logscale
stats table using 1 nooutput
xlo = STATS_min / 1.5
xhi = STATS_max * 1.5
stats table using 3 nooutput
ylo = STATS_min / 1.6
stats table using 4 nooutput
yhi = STATS_max * 1.8
set logscale x 2
set logscale y 10
set xrange [xlo:xhi]
set yrange [ylo:yhi]
bytes(v) = v < 1024 ? sprintf("%.0f", v) : v < 2.0 ** 20 ? sprintf("%.0fKi", v / 1024) : \
    v < 2.0 ** 30 ? sprintf("%.0fMi", v / 2.0 ** 20) : sprintf("%.0fGi", v / 2.0 ** 30)
# So far apart that their names do not meet.
stride = int(ceil((log(xhi / xlo) / log(2)) * 46 / (panel_width - panel_room)))
digits(range) = log10(range) > 2.2 ? "1" : log10(range) > 1.2 ? "1 3" : "1 2 5"
do for [p = 1:panels] {
    load 'panel.gp'
    set xtics ()
    do for [e = int(ceil(log(xlo) / log(2))):int(floor(log(xhi) / log(2))):stride] {
        set xtics add (bytes(2.0 ** e) 2.0 ** e)
    }
    set ytics ()
    do for [d = int(floor(log10(ylo))):int(ceil(log10(yhi)))] { do for [m in digits(yhi / ylo)] {
        v = m * 10.0 ** d
        if (v >= ylo && v <= yhi) { set ytics add ((column == 0 ? label_of(v) : "") v) }
    } }
    load 'ends.gp'
    plot for [s = 1:n] table index is("block") + s - 1 using 1:3:(0):($4 - $3) with vectors nohead \
             lc rgb hue_of(pick("styles", s)) dt solid lw 1 title "bar", \
         for [s = 1:n] table index is("block") + s - 1 using 1:2 with lines \
             lc rgb hue_of(pick("styles", s)) dt solid lw 1.2 title "line", \
         for [s = 1:n] table index is("block") + s - 1 using 1:2 with points \
             lc rgb hue_of(pick("styles", s)) pt point_of(pick("styles", s)) ps size_of title "marker", \
         for [s = 1:n] table index is("block") + s - 1 using 1:($5 > 0 ? $2 : NaN) with points \
             lc rgb "white" pt point_of(pick("styles", s)) ps inner * size_of title "hollow"
}
