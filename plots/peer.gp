# peer.gp: ratios of step times of two programs: a panel per workload and batch, a row per ratio.
#
# Columns: row, ratio, low, high, limit (0: none), 0 no limit, 1 met, 2 open, 3 missed.
# A label that is not drawn is below the panel: gnuplot 5.4 dies of a plot of labels without a place.
# No words at the left: all of the width is for the rows.
panel_edge = 16.0
panel_width = (width - panel_edge - 8) / panel_columns
x_name = "step of lockstep over step of PyTorch"
y_name = ""
unset logscale
set autoscale
xlo = 0.5
xhi = 2.0
rows = 1
stats table using (v = $3 > 0 ? $3 : 1, xlo = v < xlo ? v : xlo, rows = $1 > rows ? $1 : rows, 0) nooutput
stats table using (v = $4 > 0 ? $4 : 1, xhi = v > xhi ? v : xhi, 0) nooutput
stats table using (v = $5 > 0 ? $5 : 1, xlo = v < xlo ? v : xlo, 0) nooutput
xlo = xlo / 1.15
xhi = xhi * 1.15
array shape[4] = [13, 7, 7, 5]
# Half of the height of the words above a row, in rows.
words_half = 8.0 * (rows + 0.3) / panel_height
do for [p = 1:panels] {
    load 'panel.gp'
    set logscale x
    set xrange [xlo:xhi]
    set yrange [rows + 0.5:0.2]
    set border 1
    unset ytics
    set xtics ()
    last = 1e-300
    do for [d = int(floor(log10(xlo))):int(ceil(log10(xhi)))] { do for [m in "1 2 5"] {
        v = m * 10.0 ** d
        if (v >= xlo && v <= xhi && log(v / last) / log(xhi / xlo) * (panel_width - panel_room) > 34) {
            set xtics add (label_of(v) v)
            last = v
        }
    } }
    n = series_of(p)
    first = int(is("block"))
    do for [s = 1:n] {
        set label 20 + s say_fit(3 + s, panel_width - 20, 10) at graph 0, first s - 0.42 left noenhanced font ",10.5" \
            tc rgb hue_of(pick("styles", s))
        # Between the words, not across them.
        set arrow 60 + s from first 1, first s - 0.42 + words_half to first 1, first s + 0.58 - words_half \
            nohead back lc rgb "#999999" lw 0.8
    }
    if (p == 1) {
        do for [i = 1:4] {
            set label 40 + i word("MET OPEN MISSED", i == 4 ? 1 : i) at screen (panel_edge + 10.0 + (i - 1) * 66) / width, 36.0 / height \
                noenhanced font ",11" point pt shape[i % 4 + 1] ps size_of lc rgb "#333333" offset 0.6,0
        }
        set label 44 "no limit" at screen (panel_edge + 10.0 + 3 * 66) / width, 36.0 / height \
            noenhanced font ",11" point pt shape[1] ps size_of lc rgb "#333333" offset 0.6,0
        set label 45 "" at screen (panel_edge + 10.0 + 66) / width, 36.0 / height \
            point pt 7 ps inner * size_of lc rgb "white" offset 0.6,0 front
        set arrow 46 from screen (panel_edge + 10.0 + 4 * 72) / width, 32.0 / height rto screen 0, 9.0 / height \
            nohead lc rgb "black" lw 1.4
        set label 46 "limit" at screen (panel_edge + 10.0 + 4 * 72 + 6) / width, 36.0 / height noenhanced font ",11"
    }
    plot for [s = 1:n] table index first + s - 1 using 3:1:($4 - $3):(0) with vectors heads \
             size graph 0.008,90 lc rgb hue_of(pick("styles", s)) dt solid lw 1.2 title "bar", \
         for [s = 1:n] table index first + s - 1 using ($5 > 0 ? $5 : NaN):($1 - 0.22):(0):(0.44) with vectors nohead \
             lc rgb "black" dt solid lw 1.4 title "limit", \
         for [s = 1:n] for [i = 1:4] table index first + s - 1 using ($6 == i - 1 ? $2 : NaN):1 with points \
             pt shape[i] ps 1.2 * size_of lc rgb hue_of(pick("styles", s)) title "marker", \
         for [s = 1:n] table index first + s - 1 using ($6 == 2 ? $2 : NaN):1 with points \
             pt 7 ps 0.7 * size_of lc rgb "white" title "hollow"
}
