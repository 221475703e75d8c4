# scaling.gp: speed-up against devices, both logarithmic: a panel per workload, on the same axes.
#
# Columns: devices, speed-up, its range, hollow (2: not measured well enough), bound of shards and cores, bound of the reduction
# (0: none).
x_name = "devices"
y_name = "speed-up over one device (log scale)"
set autoscale # ranges of what was drawn before would leave out points
unset logscale
stats table using 1 nooutput
most = STATS_max
xlo = 0.88
# Beyond the last point there is room for the words next to it in a narrow panel.
xhi = most * (most / xlo) ** ((narrow ? 34.0 : 16.0) / (panel_width - panel_room - (narrow ? 34 : 16)))
stats table using ($7 > 0 && $7 < $3 ? $7 : $3) nooutput
ylo = (STATS_min < 1 ? STATS_min : 1) / 1.12
stats table using 4 nooutput
yhi = (STATS_max > most ? STATS_max : most) * 1.12
set logscale xy 2
set xrange [xlo:xhi]
set yrange [ylo:yhi]
# Bars at one place stand beside each other.
beside(x, s) = x * (xhi / xlo) ** (6.0 * (s - (n + 1) / 2.0) / (panel_width - panel_room))
stride = int(ceil(log(yhi / ylo) / log(2) / 7))
# Between the powers of 2 are 1.5 times as many, where there is room.
between = panel_height / log(yhi / ylo) * log(4.0 / 3) > 22
end_format = " %.2f"
end_open = 5
value_of(v, open) = open > 1 ? "?" : sprintf("%.2f", v)
lowest = stride * int(ceil(log(ylo) / log(2) / stride))
# Points whose value is next to them, clear of whiskers: left of those of the first series, right of
# those of the last, and below one between them. The last of a line has it in its label, except in a
# narrow panel.
valued(x, y) = (x > 1 || y < 0.95) && (narrow || x < last)
do for [p = 1:panels] {
    load 'panel.gp'
    set xtics ()
    last = 0
    do for [c in is("counts")] {
        # Where names would overlap, some are left out.
        named = last == 0 || log(c / last) / log(xhi / xlo) * (panel_width - panel_room) > 22
        set xtics add ((named ? c : "") c + 0)
        last = named ? c + 0.0 : last
    }
    set ytics ()
    # "0.125" would touch the name of the axis.
    if (lowest <= -3) { set ytics font ",10" }
    do for [i = lowest:int(floor(log(yhi) / log(2))):stride] {
        set ytics add ((column == 0 ? sprintf("%.3g", 2.0 ** i) : "") 2.0 ** i)
        if (between && i >= -1) { set ytics add ((column == 0 ? sprintf("%g", 1.5 * 2.0 ** i) : "") 1.5 * 2.0 ** i) }
    }
    if (between && lowest == 0) { set ytics add ((column == 0 ? "0.75" : "") 0.75) }
    load 'ends.gp'
    set label 50 "ideal" at first most / 1.03, first most right offset -0.6,0.3 noenhanced font ",11" \
        tc rgb "#767676"
    stats table index is("block") using (last_x = $1, last_y = $6) nooutput
    if (last_y > 0 && last_y < 0.9 * last_x) {
        set label 51 "bound" at first last_x, first last_y right offset 0,0.6 noenhanced font ",11" \
            tc rgb "#767676"
    }
    plot x <= most && x >= 1 ? x : NaN with lines lc rgb "#bbbbbb" dt solid lw 0.8 title "ideal", \
         for [s = 1:n] table index is("block") + s - 1 using 1:($6 > 0 ? $6 : NaN) with lines \
             lc rgb "#767676" dt (10,6) lw 0.8 title "bound", \
         for [s = 1:n] table index is("block") + s - 1 using 1:($7 > 0 ? $7 : NaN) with linespoints \
             lc rgb hue_of(pick("styles", s)) dt (3,4) lw 0.8 pt 1 ps size_of title "roof", \
         for [s = 1:n] table index is("block") + s - 1 using (beside($1, s)):3:(0):($4 - $3) with vectors \
             nohead lc rgb hue_of(pick("styles", s)) dt solid lw 1.2 title "bar", \
         for [s = 1:n] table index is("block") + s - 1 using (beside($1, s)):2 with lines \
             lc rgb hue_of(pick("styles", s)) dt dash_of(pick("styles", s)) lw 1.4 title "line", \
         for [s = 1:n] table index is("block") + s - 1 using (beside($1, s)):2 with points \
             lc rgb hue_of(pick("styles", s)) pt point_of(pick("styles", s)) ps size_of title "marker", \
         for [s = 1:n] table index is("block") + s - 1 using (beside($1, s)):($5 > 0 ? $2 : NaN) with points \
             lc rgb "white" pt point_of(pick("styles", s)) ps inner * size_of title "hollow", \
         for [s = 1:n > 1 ? 1 : 0] table index is("block") + s - 1 \
             using (beside($1, s)):(valued($1, $2) ? $2 : yhi * 9):(value_of($2, $5)) \
             with labels right offset -0.9,0.4 noenhanced font ",10" tc rgb hue_of(pick("styles", s)) title "value", \
         for [s = 2:n < 4 ? n - 1 : 0] table index is("block") + s - 1 \
             using (beside($1, s)):(valued($1, $2) ? $3 : yhi * 9):(value_of($2, $5)) \
             with labels center offset 0,-0.8 noenhanced font ",10" tc rgb hue_of(pick("styles", s > n ? n : s)) title "value", \
         for [s = n:n] table index is("block") + s - 1 \
             using (beside($1, s)):(valued($1, $2) ? $2 : yhi * 9):(value_of($2, $5)) \
             with labels left offset 0.9,-0.4 noenhanced font ",10" tc rgb hue_of(pick("styles", s)) title "value"
}
