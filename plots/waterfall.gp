# waterfall.gp: a step on several devices as a sum of measured differences, from the left to the right:
# a panel per workload and batch, in it a waterfall per mode, and under it what the replicas did.
#
# Columns: row, what, from, to, low, high as parts of the step, how sure, ns (of what replicas did: its
# part). How sure a term is: 0 it is told apart from 0; 1 it is about 0; 2 it is 0 to ns; 3 it is above 0, but
# was measured once, or is not certain. What: 1 ideal; 1 << from | 1 << to of ideal, shard, alone, step; 16 and up what replicas did.
# A label that is not drawn is below the panel: gnuplot 5.4 dies of a plot of labels without a place.
# No words at the left: all of the width is for the rows.
panel_edge = 16.0
panel_width = (width - panel_edge - 8) / panel_columns
x_name = "part of the step (%)"
y_name = ""
bar(w) = w == 1 ? 0xc3c9cf : w == 3 || w == 5 || w == 9 ? 0xe8c33c : w == 6 || w == 10 ? 0xd98cb3 : 0x7a2f5e
name(w) = w == 1 ? "ideal" : w == 3 ? "smaller shard" : w == 6 ? "together" : w == 12 ? "communication" : \
    w == 5 ? "smaller shard, together" : w == 10 ? "together, communication" : "all that is lost"
array parts[5] = ["forward", "backward", "loss, update", "moving", "waiting"]
array offset_of[5] = [12, 76, 146, 228, 292]
key_at(i) = narrow ? 10.0 + offset_of[i] : panel_edge + 10.0 + (i - 1) * 120
array share[5] = [0x9db4c8, 0x5f7d96, 0x2f4254, 0x7a2f5e, 0xffffff]
did(i) = i < 16 ? 0 : share[int(i) - 15]
time_of(ns) = abs(ns) >= 1e9 ? sprintf("%.3g s", ns / 1e9) : abs(ns) >= 1e6 ? sprintf("%.3g ms", ns / 1e6) : \
    sprintf("%.3g µs", ns / 1e3)
signed(w, ns) = w == 1 ? time_of(ns) : (ns < 0 ? "saves " : "+").time_of(abs(ns))
words_of(w, ns, sure) = name(w).(sure == 1 ? " about 0" : sure == 2 ? " 0 to ".time_of(ns) : \
    sure == 3 ? " about ".time_of(ns) : " ".signed(w, ns))
unset logscale
set autoscale
xlo = 0
xhi = 104.0
upto(v, most) = v > most ? most : v
stats table using (v = upto(100 * ($4 > $6 || $2 > 15 ? $4 : $6), 130.0), xhi = v > xhi ? v : xhi, 0) nooutput
stats table using 1 nooutput
rows = STATS_max + 0.7
half = 0.36
# Where the words of a bar are: right of it and of its whisker (1), left of both (-1), or inside (0);
# where they have no room, from the left edge (2) or up to the right edge (3) of the panel, on white over the bar.
share(w, ns, sure) = (strlen(words_of(w, ns, sure)) + 1) * 6.4 / (panel_width - panel_room)
long(w, ns, sure) = share(w, ns, sure) * (xhi - xlo)
lower(a, b) = a < b ? a : b
upper(a, b) = a > b ? a : b
within(v) = 100 * v < xlo ? xlo : 100 * v > xhi ? xhi : 100 * v
lowest(a, b, low) = within(lower(lower(a, b), low))
highest(a, b, high) = within(upper(upper(a, b), high))
# A bar up to its whisker, which would strike words through.
clear(a, b, low, high) = (high > low ? upper(lower(a, b), lower(upper(a, b), low)) : upper(a, b)) - lower(a, b)
place(a, b, low, high, long) = highest(a, b, high) + long < xhi ? 1 : lowest(a, b, low) - xlo > long ? -1 : \
    100 * clear(a, b, low, high) > long ? 0 : xhi - 100 * upper(a, b) > 100 * lower(a, b) - xlo ? 3 : 2
# The axis becomes longer where words have no room, to nearly 350 % if that is enough.
needed(a, b, low, high, share) = place(a, b, low, high, share * (xhi - xlo)) < 2 ? xhi : \
    highest(a, b, high) / (1 - upto(share, 0.9)) < 349 ? highest(a, b, high) / (1 - share) + 0.1 : xhi
do for [round = 1:6] {
    stats table using (v = $2 < 16 ? needed($3, $4, $5, $6, share($2, $8, $7)) : xhi, xhi = v > xhi ? v : xhi, 0) nooutput
}
set xrange [xlo:xhi]
set yrange [rows:-0.7]
anchor(a, b, low, high, at) = at == 1 ? highest(a, b, high) : at == -1 ? lowest(a, b, low) : \
    at == 0 ? 100 * lower(a, b) : xhi
# Ends of whiskers are caps; what goes on beyond the axis has an arrow there.
ends(v) = 100 * v >= xlo && 100 * v <= xhi
set style textbox opaque margins 0.6,0.1 fillcolor rgb "#ffffff" noborder
tip = 0.02 * (xhi - xlo)
do for [p = 1:panels] {
    load 'panel.gp'
    n = series_of(p)
    set border 1
    unset ytics
    if (panel_width < 400 && xhi > 130) { set xtics 0,50,0.94 * xhi } else { set xtics 0,25,0.94 * xhi }
    set grid xtics linecolor rgb "#e3e3e3" dt solid linewidth 0.5
    do for [s = 1:n] {
        first_row = rows
        stats table index is("block") + s - 1 using (first_row = $1 < first_row ? $1 : first_row, 0) nooutput
        set label 20 + s say_fit(3 + s, room, 12) at graph 0, first first_row - 1 noenhanced font ",12" \
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
             with boxxyerror fillstyle solid 1 border lc rgb "#8a8a8a" fc rgb "#e9e9e9" dt solid lw 0.6 title "noise", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (within($5)):($2 < 16 && $6 > $5 ? $1 + half : NaN):(within($6) - within($5)):(0) \
             with vectors nohead lc rgb "black" dt solid lw 0.8 title "bar", \
         for [i = 5:6] for [s = 1:n] table index is("block") + s - 1 \
             using ($2 < 16 && $6 > $5 && ends(column(i)) ? 100 * column(i) : NaN):($1 + half - 0.15):(0):(0.3) \
             with vectors nohead lc rgb "black" dt solid lw 0.8 title "cap", \
         for [s = 1:n] table index is("block") + s - 1 \
             using ($2 < 16 && 100 * $5 < xlo ? xlo + tip : NaN):($1 + half):(-tip):(0) with vectors head filled \
             size screen 7.0 / width, 20 lc rgb "black" dt solid lw 0.8 title "on", \
         for [s = 1:n] table index is("block") + s - 1 \
             using ($2 < 16 && 100 * $6 > xhi ? xhi - tip : NaN):($1 + half):(tip):(0) with vectors head filled \
             size screen 7.0 / width, 20 lc rgb "black" dt solid lw 0.8 title "on", \
         for [s = 1:n] table index is("block") + s - 1 \
             using ($2 < 16 && 100 * $4 > xhi ? xhi - tip : NaN):1:(tip):(0) with vectors head filled \
             size screen 9.0 / width, 25 lc rgb "black" dt solid lw 1.2 title "on", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (at = place($3, $4, $5, $6, long($2, $8, $7)), anchor($3, $4, $5, $6, at)):\
             ($2 < 16 && (at == 0 || at == 1) ? $1 : rows + 9):(words_of($2, $8, $7)):\
             ($2 == 12 && $7 == 0 && at == 0 ? 0xffffff : 0) \
             with labels left offset 0.7,0 noenhanced font ",11" tc rgb variable title "right", \
         for [s = 1:n] table index is("block") + s - 1 \
             using (at = place($3, $4, $5, $6, long($2, $8, $7)), xlo):($2 < 16 && at == 2 ? $1 : rows + 9):\
             (words_of($2, $8, $7)) with labels left boxed offset 0.7,0 noenhanced font ",11" title "over", \
         for [over = 0:1] for [s = 1:n] table index is("block") + s - 1 \
             using (at = place($3, $4, $5, $6, long($2, $8, $7)), anchor($3, $4, $5, $6, at)):\
             ($2 < 16 && (over ? at == 3 : at < 0) ? $1 : rows + 9):(words_of($2, $8, $7)) \
             with labels right boxed offset -0.7,0 noenhanced font ",11" title "left"
}
