# roofline.gp: GFLOP/s of a device against operations per byte moved between devices, both
# logarithmic: a panel per workload, on the same axes.
#
# Columns: operations per byte (0: no byte is moved), GFLOP/s, its range, 1: hollow. For panel p
# products_p and moves_p are the ceilings, in GFLOP/s and GB/s of a device; 0: not measured.
x_name = "FLOP per byte moved between devices"
y_name = "GFLOP/s per device"
set autoscale # ranges of what was drawn before would leave out points
unset logscale
stats table using ($1 > 0 ? $1 : NaN) nooutput
xlo = STATS_min / 1.6
inside = STATS_max * 1.6
stats table using 3 nooutput
ylo = STATS_min / 1.6
stats table using 4 nooutput
yhi = STATS_max
do for [p = 1:panels] {
    yhi = is("products") > yhi ? is("products") : yhi
    # Where both ceilings meet, if that is near.
    ridge = is("moves") > 0 ? is("products") / is("moves") : 0
    xlo = ridge > 0 && ridge / 2 < xlo && ridge > xlo / 300 ? ridge / 2 : xlo
}
yhi = yhi * 1.8
# What moves nothing stands at the right.
aside = inside * (inside / xlo) ** 0.12
xhi = aside * (inside / xlo) ** 0.05
set logscale xy 10
set xrange [xlo:xhi]
set yrange [ylo:yhi]
digits(range) = log10(range) > 2.2 ? "1" : log10(range) > 1.2 ? "1 3" : "1 2 5"
stride = int(ceil(log10(inside / xlo) * 44 / (panel_width - panel_room)))
at(x) = x > 0 ? x : aside
roof(x) = products > 0 && (moves <= 0 || x * moves > products) ? products : moves > 0 ? x * moves : NaN
do for [p = 1:panels] {
    load 'panel.gp'
    products = is("products")
    moves = is("moves")
    set xtics ("no byte" aside)
    do for [d = int(ceil(log10(xlo))):int(floor(log10(inside))):stride] {
        set xtics add (label_of(10.0 ** d) 10.0 ** d)
    }
    set ytics ()
    do for [d = int(floor(log10(ylo))):int(ceil(log10(yhi)))] { do for [m in digits(yhi / ylo)] {
        v = m * 10.0 ** d
        if (v >= ylo && v <= yhi) { set ytics add ((column == 0 ? label_of(v) : "") v) }
    } }
    load 'ends.gp'
    if (products > 0) {
        set label 50 sprintf("products alone %.3g", products) at first xhi, first products right \
            offset 0,0.6 noenhanced font ",11" tc rgb "#595959"
    }
    set samples 500
    plot roof(x) with lines lc rgb "#8c8c8c" dt solid lw 1 title "roof", \
         for [s = 1:n] table index is("block") + s - 1 using (at($1)):3:(0):($4 - $3) with vectors nohead \
             lc rgb hue_of(pick("styles", s)) dt solid lw 1 title "bar", \
         for [s = 1:n] table index is("block") + s - 1 using ($1 > 0 ? $1 : NaN):2 with lines \
             lc rgb hue_of(pick("styles", s)) dt dash_of(pick("styles", s)) lw 1.2 title "line", \
         for [s = 1:n] table index is("block") + s - 1 using (at($1)):2 with points \
             lc rgb hue_of(pick("styles", s)) pt point_of(pick("styles", s)) ps size_of title "marker", \
         for [s = 1:n] table index is("block") + s - 1 using (at($1)):($5 > 0 ? $2 : NaN) with points \
             lc rgb "white" pt point_of(pick("styles", s)) ps inner * size_of title "hollow"
}
