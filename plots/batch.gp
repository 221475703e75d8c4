# batch.gp: samples/s per device against rows per device, both logarithmic: a panel per workload, on
# the same axes. Diagonals: one step time each. Rings: knees.
#
# A label that is not drawn is below the panel: gnuplot 5.4 dies of a plot of labels without a place.
# Columns: rows per device, samples/s per device, its range, 1: hollow, 1: knee.
x_name = "rows per device"
y_name = "samples/s per device"
set autoscale # ranges of what was drawn before would leave out points
unset logscale
stats table using 1 nooutput
xlo = STATS_min / 1.25
xhi = STATS_max * 1.25
stats table using 3 nooutput
ylo = STATS_min / 1.4
stats table using 4 nooutput
yhi = STATS_max * 1.4
yhi = yhi < 10 * ylo ? 10 * ylo : yhi
set logscale x 2
set logscale y 10
set xrange [xlo:xhi]
set yrange [ylo:yhi]
# Powers of two, so far apart that their names fit; 1, 2 and 5, or powers of ten if those are many.
stride = int(ceil(log(xhi / xlo) / log(2) * 42 / (panel_width - panel_room)))
digits = log10(yhi / ylo) > 2.2 ? "1" : log10(yhi / ylo) > 1.5 ? "1 3" : "1 2 5"
first = int(ceil(log(xlo) / log(2)))
do for [p = 1:panels] {
    load 'panel.gp'
    set xtics ()
    do for [i = first:int(floor(log(xhi) / log(2))):stride] {
        set xtics add (sprintf("%g", 2.0 ** i) 2.0 ** i)
    }
    set ytics ()
    do for [d = int(floor(log10(ylo))):int(ceil(log10(yhi)))] { do for [m in digits] {
        v = m * 10.0 ** d
        if (v >= ylo && v <= yhi) { set ytics add ((column == 0 ? label_of(v) : "") v) }
    } }
    load 'ends.gp'
    # The step times of a decade each that cross the panel: y = x / seconds.
    fastest = int(ceil(log10(xlo / yhi)))
    slowest = int(floor(log10(xhi / ylo)))
    do for [d = fastest:slowest] {
        t = 10.0 ** d
        top = yhi * t < xhi
        name = d < -6 ? sprintf("%g ns", t * 1e9) : d < -3 ? sprintf("%g µs", t * 1e6) : \
            d < 0 ? sprintf("%g ms", t * 1e3) : sprintf("%g s", t)
        beyond = top ? yhi * t < 3 * xlo : xhi / t < 1.7 * ylo
        name = beyond ? "" : name
        set label 60 + d - fastest name at first (top ? yhi * t : xhi), first (top ? yhi : xhi / t) \
            right offset -0.4,-0.5 noenhanced font ",11" tc rgb "#767676"
    }
    plot for [d = fastest:slowest] x / 10.0 ** d with lines lc rgb "#dddddd" dt solid lw 0.7 title "guide", \
         for [s = 1:n] table index is("block") + s - 1 using 1:3:(0):($4 - $3) with vectors nohead \
             lc rgb hue_of(pick("styles", s)) dt solid lw 1 title "bar", \
         for [s = 1:n] table index is("block") + s - 1 using 1:2 with lines \
             lc rgb hue_of(pick("styles", s)) dt dash_of(pick("styles", s)) lw 1.4 title "line", \
         for [s = 1:n] table index is("block") + s - 1 using 1:2 with points \
             lc rgb hue_of(pick("styles", s)) pt point_of(pick("styles", s)) ps size_of title "marker", \
         for [s = 1:n] table index is("block") + s - 1 using 1:($5 > 0 ? $2 : NaN) with points \
             lc rgb "white" pt point_of(pick("styles", s)) ps inner * size_of title "hollow", \
         for [s = 1:n] table index is("block") + s - 1 using 1:($6 > 0 ? $2 : NaN) with points \
             lc rgb hue_of(pick("styles", s)) pt 6 ps 2.2 * size_of lw 1 title "knee", \
         for [s = 1:n] table index is("block") + s - 1 using 1:($6 > 0 ? $2 : ylo / 10):(sprintf($1 < 100 ? "%.3g" : "%.0f", $1)) \
             with labels center offset 0,-1.3 noenhanced font ",11" tc rgb hue_of(pick("styles", s)) title "knees"
}
