# limits.gp: shares of what the machine allows: a panel per workload and batch, a row per phase and
# per product.
#
# Columns: row, share of the limit, low, high. Style 2 is a phase, 4 a product by itself.
# A label that is not drawn is below the panel: gnuplot 5.4 dies of a plot of labels without a place.
x_name = "share of its limit (%)"
y_name = ""
unset logscale
set autoscale
xhi = 100.0
rows = 3
stats table using (v = 100 * $2, xhi = v > xhi ? v : xhi, rows = $1 > rows ? $1 : rows, 0) nooutput
xhi = xhi > 200 ? 200 : xhi
within(v) = 100 * v > xhi ? xhi : 100 * v
# Half of the height of the words above a row, in rows.
words_half = 8.0 * (rows + 0.4) / panel_height
do for [p = 1:panels] {
    load 'panel.gp'
    set xrange [0:1.06 * xhi]
    set yrange [rows + 0.5:0.1]
    set border 1
    set xtics autofreq
    unset ytics
    n = series_of(p)
    first = int(is("block"))
    do for [s = 1:n] {
        set label 20 + s say_fit(3 + s, panel_width - 20, 10.5) at graph 0, first s - 0.42 left noenhanced font ",10.5" \
            tc rgb hue_of(pick("styles", s))
        # Not across words.
        set arrow 20 + s from first 100, first s - 0.42 + words_half to first 100, first s + 0.58 - words_half \
            nohead back lc rgb "#999999" lw 0.8
    }
    if (p == 1) {
        do for [i = 1:2] {
            set label 40 + i word("phase product", i) at screen (panel_edge + 10.0 + (i - 1) * 70) / width, 36.0 / height \
                noenhanced font ",11" point pt point_of(2 * i) ps size_of lc rgb hue_of(2 * i) offset 0.6,0
        }
        set arrow 46 from screen (panel_edge + 164.0) / width, 32.0 / height rto screen 0, 9.0 / height \
            nohead lc rgb "#999999" lw 0.8
        set label 46 "limit" at screen (panel_edge + 170.0) / width, 36.0 / height noenhanced font ",11"
    }
    plot for [s = 1:n] table index first + s - 1 using (within($3)):1:(within($4) - within($3)):(0) with vectors heads \
             size graph 0.008,90 lc rgb hue_of(pick("styles", s)) dt solid lw 1.2 title "bar", \
         for [s = 1:n] table index first + s - 1 using (within($2)):1 with points \
             pt point_of(pick("styles", s)) ps size_of lc rgb hue_of(pick("styles", s)) title "marker", \
         for [s = 1:n] table index first + s - 1 using (100 * $2 > xhi ? xhi : NaN):1:(0.05 * xhi):(0) with vectors head filled \
             size graph 0.018,20 lc rgb hue_of(pick("styles", s)) dt solid lw 1.2 title "beyond"
}
