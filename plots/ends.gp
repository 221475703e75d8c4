# ends.gp: the labels of the series of panel p: at the ends of their lines, moved apart where they
# would overlap; or above a panel that is narrow. yhi and ylo are the ends of its y axis, which is
# logarithmic unless linear is 1.
#
# x is in column 1 of a block, y in column 2. A label may end with the last y, in end_format; with "?" if column
# end_open says 2: not measured well enough.
n = series_of(p)
array end_x[n]
array end_y[n]
array end_state[n]
array own[n]
array place[n]
do for [s = 1:n] {
    stats table index is("block") + s - 1 using (last_x = $1, last_y = $2, open = end_open ? column(end_open) : 0) nooutput
    end_x[s] = last_x
    end_y[s] = last_y
    end_state[s] = open
    place[s] = panel_height * (linear ? (last_y - ylo) / (yhi - ylo) : log(last_y / ylo) / log(yhi / ylo))
    own[s] = place[s]
}
# Pairs that are too near are pushed apart, again and again. Places are no integers: gnuplot divides
# those by leaving the rest out.
do for [round = 1:40] {
    do for [i = 1:n] { do for [j = i + 1:n] {
        lack = 17 - abs(place[i] - place[j])
        up = place[i] > place[j] || (place[i] == place[j] && i < j) ? 1 : -1
        if (lack > 0) {
            place[i] = place[i] + up * lack / 2
            place[j] = place[j] - up * lack / 2
        }
    } }
    do for [i = 1:n] {
        place[i] = place[i] < 6 ? 6.0 : place[i] > panel_height - 6 ? panel_height - 6.0 : place[i]
    }
}
across = 0
# A thin line leads from the last point of a line to its label, if that is not at the same height, and
# ends before it: a label's distance is no share of the width. A point at 0 is drawn elsewhere.
lead = 7.0 / (right - left) < 0.025 ? 7.0 / (right - left) : 0.025
do for [s = 1:n] {
    style = pick("styles", s)
    colour = hue_of(style)
    if (narrow) {
        set label 20 + s say(3 + s) at screen (left + across + 12) / width, \
            1 - (bottom - panel_height - 14) / height noenhanced font ",12" tc rgb colour \
            point pt point_of(style) ps size_of lc rgb colour offset 0.6,0
        across = across + 26 + 7.4 * strlen(say(3 + s))
    } else {
        set label 20 + s say(3 + s).(end_state[s] > 1 ? " ?" : sprintf(end_format, end_y[s])) at graph 1, graph place[s] / panel_height \
            offset 1.2,0 noenhanced font ",12" tc rgb colour
        if (end_x[s] > 0 && abs(place[s] - own[s]) > 3) {
            set arrow 20 + s from first end_x[s], first end_y[s] to graph 1.0 + lead, graph place[s] / panel_height \
                nohead back lc rgb "#aaaaaa" lw 0.6
        }
    }
}
