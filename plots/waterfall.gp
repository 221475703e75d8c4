# waterfall.gp: a step on several devices as a sum of measured differences, from the left to the right:
# a panel per workload and batch, in it a waterfall per mode, and under it what the replicas did.
#
# Columns: row, what, from, to, low, high as parts of the step, 1: hollow, ns (of what replicas did: its
# part). What: 1 ideal; 1 << from | 1 << to of ideal, shard, alone, step; 16 and up what replicas did.
# A label that is not drawn is below the panel: gnuplot 5.4 dies of a plot of labels without a place.
x_name = "part of the step (%)"
y_name = ""
bar(w) = w == 1 ? 0xc3c9cf : w == 3 || w == 5 || w == 9 ? 0xe8c33c : w == 6 || w == 10 ? 0xd98cb3 : 0x7a2f5e
name(w) = w == 1 ? "ideal" : w == 3 ? "smaller shard" : w == 6 ? "together" : w == 12 ? "communication" : \
    w == 5 ? "smaller shard, together" : w == 10 ? "together, communication" : "all that is lost"
array parts[5] = ["forward", "backward", "loss, update", "moving", "waiting"]
array offset_of[5] = [12, 76, 146, 228, 292]
key_at(i) = narrow ? 1.0 * offset_of[i] : panel_edge + 10.0 + (i - 1) * 120
array share[5] = [0x9db4c8, 0x5f7d96, 0x2f4254, 0x7a2f5e, 0xffffff]
did(i) = i < 16 ? 0 : share[int(i) - 15]
time_of(ns) = abs(ns) >= 1e9 ? sprintf("%.3g s", ns / 1e9) : abs(ns) >= 1e6 ? sprintf("%.3g ms", ns / 1e6) : \
    sprintf("%.3g µs", ns / 1e3)
signed(w, ns) = w == 1 ? time_of(ns) : (ns < 0 ? "−" : "+").time_of(abs(ns))
unset logscale
set autoscale
stats table using 4 nooutput
xlo = 0
xhi = 100 * STATS_max < 104 ? 104 : 100 * STATS_max > 200 ? 200 : 100 * STATS_max
stats table using 1 nooutput
rows = STATS_max + 0.7
set xrange [xlo:xhi]
set yrange [rows:-0.7]
half = 0.36
# Where the words of a bar are: right of it, left of it, or inside; where they have no room, on the side
# that has more.
letters = 6.0 / (panel_width - panel_room) * (xhi - xlo)
long(w, ns) = (strlen(name(w)) + strlen(signed(w, ns)) + 2) * letters
lower(a, b) = a < b ? a : b
upper(a, b) = a > b ? a : b
within(v) = 100 * v < xlo ? xlo : 100 * v > xhi ? xhi : 100 * v
inside(a, b, w, ns) = 100 * (upper(a, b) - lower(a, b)) > long(w, ns)
side(a, b) = xhi - 100 * upper(a, b) > 100 * lower(a, b) - xlo ? 1 : -1
place(a, b, w, ns) = 100 * upper(a, b) + long(w, ns) < xhi ? 1 : 100 * lower(a, b) - xlo > long(w, ns) ? -1 : \
    inside(a, b, w, ns) ? 0 : side(a, b)
words_of(w, ns) = name(w)." ".signed(w, ns)
do for [p = 1:panels] {
    load 'panel.gp'
    n = series_of(p)
    set border 1
    unset ytics
    set xtics 25
    set grid xtics linecolor rgb "#e3e3e3" dt solid linewidth 0.5
    do for [s = 1:n] {
        first_row = rows
        stats table index is("block") + s - 1 using (first_row = $1 < first_row ? $1 : first_row, 0) nooutput
        set label 20 + s say(3 + s) at graph 0, first first_row - 1 noenhanced font ",12" \
            tc rgb hue_of(pick("styles", s))
    }
    if (p == 1) {
        do for [i = 1:5] {
            set label 40 + i parts[i] \
                at screen (key_at(i) + 10.0) / width, 36.0 / height noenhanced font (narrow ? ",9" : ",11")
            set object 40 + i rectangle center screen key_at(i) / width, 36.0 / height \
                size screen 11.0 / width, 9.0 / height fillstyle solid border lc rgb "#333333" \
                fillcolor rgb did(15 + i) lw 0.5
        }
    }
    plot for [s = 1:n] table index is("block") + s - 1 \
             using ($2 < 16 ? 50 * ($3 + $4) : NaN):1:(100 * $3):(100 * $4):($1 - half):($1 + half):(bar($2)) \
             with boxxyerror fillstyle solid 1 noborder lc rgb variable title "term", \
         for [s = 1:n] table index is("block") + s - 1 \
             using ($2 >= 16 ? 50 * ($3 + $4) : NaN):1:(100 * $3):(100 * $4):($1 - 0.24):($1 + 0.24):(did($2)) \
             with boxxyerror fillstyle solid 1 border lc rgb "#333333" fc rgb variable dt solid lw 0.4 title "did", \
         for [s = 1:n] table index is("block") + s - 1 \
             using ($7 > 0 ? 50 * ($3 + $4) : NaN):1:(100 * $3):(100 * $4):($1 - half):($1 + half) \
             with boxxyerror fillstyle solid 1 border lc rgb "#555555" fc rgb "white" dt solid lw 0.6 title "noise", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (within($5)):($2 < 16 && $6 > $5 ? $1 + half : NaN):(within($6) - within($5)):(0) \
             with vectors heads size graph 0.008,90 lc rgb "black" dt solid lw 0.8 title "bar", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (100 * upper($3, $4)):($2 < 16 && place($3, $4, $2, $8) == 1 ? $1 : rows + 9):(words_of($2, $8)) \
             with labels left offset 0.7,0 noenhanced font ",11" title "right", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (100 * lower($3, $4)):($2 < 16 && place($3, $4, $2, $8) == -1 ? $1 : rows + 9):(words_of($2, $8)) \
             with labels right offset -0.7,0 noenhanced font ",11" title "left", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (100 * lower($3, $4)):($2 < 16 && place($3, $4, $2, $8) == 0 ? $1 : rows + 9):\
             (words_of($2, $8)):($2 == 12 && $7 == 0 ? 0xffffff : 0) \
             with labels left offset 0.7,0 noenhanced font ",11" tc rgb variable title "inside"
}
