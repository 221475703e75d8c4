# trust.gp: whether launches can be trusted: a run chart, a strip of launches, the first steps.
#
# Panels have kinds; blocks of their series:
#   1 place in time, step over the median of its cell, foreign share, stolen share (-1: unknown),
#     1: a block begins
#   2 a block per cell: row, floor, low, high, 0; then row, step of a launch, 1, 1, 1: all over the
#     median of the cell
#   3 step, time over the median of the launch: the median of all launches, then some of them
unset logscale
y_name = ""
# A tick's name is a format.
percent(v) = sprintf(v < 1 ? "−%g %%%%" : "+%g %%%%", abs(v - 1) * 100)
# Ticks on both sides of 1 from there on, those that are far enough apart on so many pixels.
array ticks[2] = ["1.02 1.05 1.1 1.2 1.5 2 3 5 10 30 100", "0.98 0.95 0.9 0.8 0.7 0.5 0.25"]
fits(v, last, pixels, lo, hi, least) = v > lo && v < hi && abs(log(v / last)) / log(hi / lo) * pixels > least
array shade[4] = [0x999999, 0xe0b981, 0xb9741f, 0x5e3200]
class(f) = f < 0 ? 1 : f < 0.05 ? 2 : f < 0.3 ? 3 : 4
array meaning[4] = ["unknown", "foreign CPU < 5 %", "5 to 30 %", "> 30 %"]
array across[4] = [0, 60, 172, 232]
do for [p = 1:panels] {
    x_name = is("kind") == 1 ? "launch" : is("kind") == 2 ? "launch over the median of its cell" : "step"
    load 'panel.gp'
    unset logscale
    set autoscale
    set border 3
    unset grid
    n = series_of(p)
    first = int(is("block"))
    # A range around 1 for what is in the column.
    lo = 0.97
    hi = 1.03
    stats table index first:(is("kind") == 3 ? first : first + n - 1) using (v = $2 + 0, lo = v < lo ? v : lo, hi = v > hi ? v : hi, 0) nooutput
    if (is("kind") == 2) {
        stats table index first:(first + n - 1) using (lo = $3 < lo ? $3 : lo, hi = $4 > hi ? $4 : hi, 0) nooutput
    }
    lo = lo < 0.2 ? 0.2 : lo / 1.01
    hi = hi > 100 ? 100 : hi * 1.01
    set xtics autofreq
    set ytics ()
    if (is("kind") != 2) {
        set logscale y
        # The strip of what was stolen is below the points.
        bottom_of = is("kind") == 1 ? lo / (hi / lo) ** 0.16 : lo
        set yrange [bottom_of:hi]
        set tics nomirror
        set ytics add ("0" 1)
        do for [side = 1:2] {
            last = 1.0
            do for [t in ticks[side]] { if (fits(t + 0, last, panel_height, lo, hi, 15)) {
                set ytics add (percent(t + 0) t + 0)
                last = t + 0
            } }
        }
    }
    if (is("kind") == 1) {
        most = is("last")
        set xrange [0:most + 1]
        strip = bottom_of * (hi / lo) ** 0.12
        # Left of the axis, where no dot is.
        set label 30 "steal 0–10 %" at graph 0, first bottom_of * (hi / lo) ** 0.05 right offset -0.5,0 noenhanced font ",9" tc rgb "#555555"
        do for [i = 1:4] {
            set label 30 + i meaning[i] at screen (left + (narrow ? 0 : panel_width - panel_room - 380) + across[i] * (narrow ? 1 : 1.3) + 10) / width, \
                1 - (bottom - panel_height - 10) / height noenhanced font (narrow ? ",9" : ",11") \
                point pt (i == 1 ? 6 : 7) ps size_of lc rgb shade[i] offset 0.6,0
        }
        plot table index first using ($5 > 0 ? $1 - 0.5 : NaN):(bottom_of):(0):(hi - bottom_of) with vectors nohead \
                 lc rgb "#d0d0d0" dt solid lw 0.6 title "block", \
             1 with lines lc rgb "#888888" dt solid lw 0.6 title "cell", \
             strip with lines lc rgb "#d0d0d0" dt solid lw 0.6 title "strip", \
             table index first using ($4 > 0 ? $1 : NaN):(bottom_of):(0):(bottom_of * (strip / bottom_of) ** ($4 > 0.1 ? 1 : $4 / 0.1) - bottom_of) \
                 with vectors nohead lc rgb "#5e3200" dt solid lw 1 title "steal", \
             for [i = 1:4] table index first using (class($3) == i ? $1 : NaN):($2 > hi ? hi : $2) with points \
                 pt (i == 1 ? 6 : 7) ps (most > 200 ? 0.55 : 0.8) * size_of lc rgb shade[i] title "marker"
    }
    if (is("kind") == 2) {
        names = narrow ? 130 : 330
        set lmargin at screen (left + names) / width
        pixels = panel_width - panel_room - names
        # Half of the last tick's name is to the right of it.
        hi = hi * (hi / lo) ** (16.0 / pixels)
        set logscale x
        set xrange [lo:hi]
        set yrange [n + 0.6:0.4]
        set border 1
        unset ytics
        set xtics ()
        set xtics add ("0" 1)
        do for [side = 1:2] {
            last = 1.0
            do for [t in ticks[side]] { if (fits(t + 0, last, pixels, lo, hi, 48)) {
                set xtics add (percent(t + 0) t + 0)
                last = t + 0
            } }
        }
        do for [s = 1:n] {
            set label 20 + s fit(say(3 + s), names + panel_edge - 22, narrow ? 8.5 : 11.3) at screen (left + names - 8) / width, first s \
                right noenhanced font (narrow ? ",9" : ",12") tc rgb hue_of(pick("styles", s))
        }
        set arrow 1 from first 1, graph 0 to first 1, graph 1 nohead back lc rgb "#cccccc" lw 0.8
        plot for [s = 1:n] table index first + s - 1 using ($5 == 0 ? $3 : NaN):1:($4 - $3):(0) with vectors heads \
                 size graph 0.003,90 lc rgb hue_of(pick("styles", s)) dt solid lw 1.2 title "bar", \
             for [s = 1:n] table index first + s - 1 using ($5 == 0 ? $2 : NaN):($1 - 0.33):(0):(0.66) with vectors nohead \
                 lc rgb "black" dt solid lw 1 title "floor", \
             for [s = 1:n] table index first + s - 1 using ($5 == 1 ? $2 : NaN):1 with points pt 6 ps size_of \
                 lc rgb hue_of(pick("styles", s)) lw 1 title "marker"
    }
    if (is("kind") == 3) {
        set xrange [0.5:60.5]
        set xtics ("1" 1, "10" 10, "20" 20, "30" 30, "40" 40, "50" 50, "60" 60)
        shaded = is("warmup") > 60 ? 60.5 : is("warmup") + 0.5
        set object 1 rectangle from first 0.5, graph 0 to first shaded, graph 1 behind fillstyle solid noborder \
            fillcolor rgb "#eeeeee"
        set label 30 "warm-up" at first (is("warmup") > 12 ? 0.5 : shaded), graph 1 left offset 0.6,-0.7 noenhanced font ",11" tc rgb "#555555"
        plot table index first + 1 using 1:($2 > hi ? hi : $2 < bottom_of ? bottom_of : $2) with lines lc rgb "#a8b8c8" dt solid lw 0.4 title "launch", \
             table index first using 1:($2 > hi ? hi : $2) with lines lc rgb "black" dt solid lw 1.6 title "line"
    }
}
