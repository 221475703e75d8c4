# overlap.gp: the reduction of ranks as a part of the step, and what of it nothing hides: a panel per
# workload, a row per cell.
#
# Columns: row, reduction and its exposed part, low, high, as parts of the step, hidden part.
# A label that is not drawn is below the panel: gnuplot 5.4 dies of a plot of labels without a place.
# No words at the left: all of the width is for the rows.
panel_edge = 16.0
panel_width = (width - panel_edge - 8) / panel_columns
x_name = "part of the step (%)"
y_name = ""
unset logscale
set autoscale
xhi = 10.0
rows = 3
stats table using (v = 100 * $2 + 0, xhi = v > xhi ? v : xhi, rows = $1 > rows ? $1 : rows, 0) nooutput
stats table using (v = 100 * $5 + 0, xhi = v > xhi ? v : xhi, 0) nooutput
xhi = xhi > 150 ? 150 : 1.05 * xhi
# Less than nothing is noise: the exposed part was longer than the reduction alone.
hidden(percent) = percent < 0.5 ? "nothing hidden" : sprintf("%.0f %% hidden", percent)
within(v) = 100 * v < 0 ? 0 : 100 * v > xhi ? xhi : 100 * v
do for [p = 1:panels] {
    load 'panel.gp'
    # What is hidden is said at the end of the bar.
    set xrange [0:xhi * panel_width / (panel_width - 100)]
    set yrange [rows + 0.6:0.1]
    set border 1
    set xtics autofreq
    unset ytics
    n = series_of(p)
    first = int(is("block"))
    do for [s = 1:n] {
        set label 20 + s say_fit(3 + s, panel_width - 20, 10.5) at graph 0, first s - 0.4 left noenhanced font ",10.5" \
            tc rgb hue_of(pick("styles", s))
    }
    if (p == 1) {
        set object 1 rectangle center screen (panel_edge + 10.0) / width, 36.0 / height size screen 11.0 / width, 9.0 / height \
            fillstyle solid noborder fillcolor rgb 0xd9c3d2
        set object 2 rectangle center screen (panel_edge + 150.0) / width, 36.0 / height size screen 11.0 / width, 9.0 / height \
            fillstyle solid noborder fillcolor rgb 0x7a2f5e
        set label 41 "reduction alone" at screen (panel_edge + 20.0) / width, 36.0 / height noenhanced font ",11"
        set label 42 "exposed" at screen (panel_edge + 160.0) / width, 36.0 / height noenhanced font ",11"
    }
    plot for [s = 1:n] table index first + s - 1 using (50 * $2):1:(0):(100 * $2):($1 - 0.14):($1 + 0.3) with boxxyerror \
             fillstyle solid 1 noborder lc rgb 0xd9c3d2 title "reduction", \
         for [s = 1:n] table index first + s - 1 using (within($3) / 2):1:(0):(within($3)):($1 - 0.02):($1 + 0.18) with boxxyerror \
             fillstyle solid 1 noborder lc rgb 0x7a2f5e title "exposed", \
         for [s = 1:n] table index first + s - 1 using (within($4)):($1 + 0.3):(within($5) - within($4)):(0) with vectors heads \
             size graph 0.008,90 lc rgb "black" dt solid lw 0.8 title "bar", \
         for [s = 1:n] table index first + s - 1 using (within($2 > $3 ? $2 : $3)):($1 + 0.08):(hidden(100 * $6)) \
             with labels left offset 0.7,0 noenhanced font ",10.5" tc rgb "#444444" title "hidden"
}
