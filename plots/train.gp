# train.gp: losses, and test accuracy, by epoch; of a text by millions of tokens: a panel each.
#
# Columns: x, y. For panel p accuracy_p is 1 where y is a percentage, 0 where it is a loss, which is
# logarithmic; epochs_p is the last epoch, 0 where x is tokens; bare_p is 1 where lines have no markers.
# The label of y is in the title, since words along the axis would overlap numbers like 0.0001.
y_name = ""
# The colours of the line types of draw.gp, each with its own marker.
array wong[6] = [0x000000, 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xb07800]
hue_of(style) = wong[style]
point_of(style) = int(word("7 5 9 13 11 15", style))
# At most seven ticks, apart by 1, 2 or 5 times a power of ten.
ten(range) = 10.0 ** floor(log10(range / 7.0))
rough(range) = range / (7.0 * ten(range))
step_of(range) = ten(range) * (rough(range) <= 1 ? 1 : rough(range) <= 2 ? 2 : rough(range) <= 5 ? 5 : 10)
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] {
    n = series_of(p)
    if (n == 0) { continue }
    first = int(is("block"))
    epochs = is("epochs")
    bare = is("bare")
    x_name = epochs > 0 ? "epoch" : "million tokens"
    unset logscale
    set autoscale
    stats table index first:first + n - 1 using 1 nooutput
    long = STATS_max - STATS_min > 1 || epochs == 0 ? STATS_max - STATS_min : 1
    xlo = epochs > 0 ? STATS_min - 0.02 * long : 0
    xhi = epochs > 0 ? xlo + 1.02 * long : STATS_max > 1e-6 ? STATS_max : 1e-6
    stats table index first:first + n - 1 using 2 nooutput
    ylo = STATS_min
    yhi = STATS_max
    load 'panel.gp'
    linear = is("accuracy")
    if (linear) {
        lack = yhi - ylo < 1 ? 1 - (yhi - ylo) : 0
        long = yhi - ylo + lack
        ylo = ylo - lack / 2 - 0.06 * long
        yhi = ylo + 1.12 * long
        yhi = yhi > 100 ? 100.5 : yhi
    } else {
        lack = yhi / ylo < 5 ? 5 * ylo / yhi : 1.0
        long = yhi / ylo * lack
        ylo = ylo / sqrt(lack) / long ** 0.06
        yhi = ylo * long ** 1.12
        set logscale y 10
    }
    set xrange [xlo:xhi]
    set yrange [ylo:yhi]
    set xtics ()
    step = epochs > 0 && epochs <= 7 ? 1.0 : step_of(xhi - xlo)
    do for [i = int(ceil(xlo / step - 1e-9)):int(floor(xhi / step + 1e-9))] {
        set xtics add (label_of(i * step) i * step)
    }
    set ytics ()
    if (linear) {
        step = step_of(yhi - ylo)
        do for [i = int(ceil(ylo / step - 1e-9)):int(floor(yhi / step + 1e-9))] {
            set ytics add (label_of(i * step) i * step)
        }
    } else { do for [d = int(floor(log10(ylo))):int(ceil(log10(yhi)))] {
        do for [m in log10(yhi / ylo) > 2.5 ? "1" : "1 2 5"] {
            v = m * 10.0 ** d
            if (v >= ylo && v <= yhi) { set ytics add (label_of(v) v) }
        }
    } }
    load 'ends.gp'
    plot for [s = 1:n] table index first + s - 1 using 1:2 with lines lt pick("styles", s) \
             lc rgb hue_of(pick("styles", s)) lw 1.4 title "line", \
         for [s = 1:n] table index first + s - 1 using 1:(bare ? NaN : $2) with points \
             lc rgb hue_of(pick("styles", s)) pt point_of(pick("styles", s)) ps size_of title "marker"
}
