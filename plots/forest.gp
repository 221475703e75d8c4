# forest.gp: what pairs of two programs show: a row per cell, the ratio of times with its interval.
#
# Columns: row, ratio, low, high, and the verdict, which has a shape and a colour: 0 equivalent,
# 1 improved, 2 regressed, 3 inconclusive, 4 invalid, which has no ratio. The words of a row are above it.
# No words at the left: all of the width is for the rows.
panel_edge = 16.0
panel_width = width - panel_edge - 8
x_name = "time of NEW over that of OLD"
y_name = ""
unset logscale
set autoscale
xlo = 0.97
xhi = 1.03
rows = 1
stats table using (v = $3 > 0 ? $3 : 1, xlo = v < xlo ? v : xlo, rows = $1 > rows ? $1 : rows, 0) nooutput
stats table using (v = $4 > 0 ? $4 : 1, xhi = v > xhi ? v : xhi, 0) nooutput
long = log(xhi / xlo)
xlo = xlo * exp(-0.06 * long)
xhi = xhi * exp(0.06 * long)
array shape[4] = [7, 11, 9, 7]
array colour[5] = [0x009e73, 0x0072b2, 0xd55e00, 0x555555, 0x555555]
do for [p = 1:panels] {
    load 'panel.gp'
    set logscale x
    set xrange [xlo:xhi]
    set yrange [rows + 0.6:0.1]
    set border 1
    unset ytics
    set xtics ()
    last = 1e-300
    # Near 1 in even steps, which have 1 among them; else by decades.
    step = long < 0.2 ? 0.01 : 0.05
    ticks = ""
    if (long < 0.7) {
        do for [i = int(ceil(xlo / step)):int(floor(xhi / step))] { ticks = ticks.sprintf(" %.2f", i * step) }
    } else { do for [d = int(floor(log10(xlo))):int(ceil(log10(xhi)))] { do for [m in "1 2 5"] {
        ticks = ticks.sprintf(" %g", m * 10.0 ** d)
    } } }
    do for [t in ticks] {
        v = t + 0.0
        if (v >= xlo && v <= xhi && log(v / last) / log(xhi / xlo) * (panel_width - panel_room) > 38) {
            set xtics add (label_of(v) v)
            last = v
        }
    }
    set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead back lc rgb "#999999" lw 0.8
    n = series_of(p)
    first = int(is("block"))
    do for [s = 1:n] {
        set label 20 + s say_fit(3 + s, panel_width - 20, 10.5) at graph 0, first s - 0.45 left noenhanced font ",10.5" \
            tc rgb colour[pick("styles", s)]
    }
    plot for [s = 1:n] table index first + s - 1 using ($5 < 4 ? $3 : NaN):1:($4 - $3):(0) with vectors heads \
             size graph 0.006,90 lc rgb colour[pick("styles", s)] dt solid lw 1.2 title "bar", \
         for [s = 1:n] for [i = 1:4] table index first + s - 1 using ($5 == i - 1 ? $2 : NaN):1 with points \
             pt shape[i] ps 1.2 * size_of lc rgb colour[i] title "marker", \
         for [s = 1:n] table index first + s - 1 using ($5 == 3 ? $2 : NaN):1 with points \
             pt 7 ps 0.7 * size_of lc rgb "white" title "hollow"
}
