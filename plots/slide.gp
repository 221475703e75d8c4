# slide.gp: three sentences, and for each setting a bar of DataParallel and one of DDP, over the best single
# process, which is the line at 1. The first panel has the sentences, the others are settings.
#
# Columns: place, 0 DataParallel, 1 DDP; the ratio, its range, 0: certain, 1: not, 2: not measured well enough;
# 2: the range is the smallest to the largest of few launches, 3: it is an interval.
unset logscale
set autoscale
unset key
unset label
# Lines of whole words, smaller for each sentence, and for a long one.
p = 1
at = 12.0
number = 100
do for [i = 1:3] {
    size = i == 1 && strlen(say(1)) > 170 ? 17 : int(word(strlen(say(2)) > 300 ? "22 12 12" : "22 15 13", i))
    line = ""
    do for [k = 1:words(say(i)) + 1] {
        next = k > words(say(i)) ? "" : word(say(i), k)
        if (line ne "" && (next eq "" || strlen(line." ".next) * 0.56 * size > width - 40)) {
            at = at + 1.35 * size
            set label number line at screen 20.0 / width, 1 - at / height noenhanced \
                font sprintf(",%d", size) tc rgb (i < 3 ? "#1a1a1a" : "#555555")
            number = number + 1
            line = ""
        }
        line = line eq "" ? next : line." ".next
    }
    at = at + 0.5 * size
}
set label 3 fit(text[texts], width - 30, 11) at screen 16.0 / width, 16.0 / height noenhanced font ",11" tc rgb "#555555"
# What a wide range would make of the axis is not drawn: its whisker ends at the top.
stats table using ($6 < 2 ? $5 : 1) nooutput
yhi = (STATS_max > 1 ? STATS_max : 1) * 1.3
set lmargin at screen 80.0 / width
set rmargin at screen 1 - 100.0 / width
set tmargin at screen 1 - (at + 14) / height
set bmargin at screen 138.0 / height
set border 3
set xrange [0.5:panels - 0.5]
set yrange [0:yhi]
unset xtics
set ytics font ",12"
set label 4 "times as fast" at screen 26.0 / width, first yhi / 2 rotate by 90 center noenhanced font ",13"
p = 1
set label 5 (is("intervals") ? "Lines: 95 % intervals over launches. " : "").\
    (is("ranges") ? "Dotted lines: smallest to largest of few launches. " : "")."Hatched, ?: not certain." at screen 0.5, 42.0 / height center noenhanced \
    font ",12" tc rgb "#444444"
set style textbox opaque margins 1,0.5 fillcolor rgb "#ffffff" noborder
set label 6 is("single") ? "as fast\nas the best\nsingle process" : "as fast as\none device" \
    at graph 1, first 1 offset 0.6,(is("single") ? 0.8 : 0.4) noenhanced font ",11"
cut(y) = y > 0.78 * yhi ? 0.78 * yhi : y
only(y, holds) = holds ? y : -9
value_of(v, state) = state > 1 ? "" : sprintf(state > 0 ? "%.2f?" : "%.2f", v)
range_of(lo, hi, state) = (state > 1 ? "not measured\nwell enough\n" : "").(lo < hi ? sprintf("%.2f to %.2f", lo, hi) : "")
place = 1.0 * (width - 180) / (panels - 1)
do for [p = 2:panels] {
    do for [i = 1:3] {
        set label 10 * p + i fit(say(i), 0.95 * place, i == 1 ? 15 : 12) at first p - 1, \
            screen (i == 1 ? 98.0 : 113.0 - 17 * i) / height center noenhanced font (i == 1 ? ",15" : ",12") \
            tc rgb (i == 1 ? "#1a1a1a" : "#555555")
    }
    do for [s = 1:series_of(p)] {
        set label 10 * p + 3 + s say(3 + s) at first p - 1 + (kind(pick("styles", s)) - 2.5) * 0.44, \
            screen 122.0 / height center noenhanced \
            font (0.28 * 11 * strlen(say(4).say(5)) > 0.42 * place ? ",10" : ",11") tc rgb hue_of(pick("styles", s))
    }
}
box = 0.16
plot table using 1:2:($1 - box):($1 + box):(0):(only($3, $6 == 0)):(hue[2 + int($2)]) \
         with boxxyerror fillstyle solid noborder lc rgb variable title "certain", \
     for [i = 0:1] table using 1:2:($1 - box):($1 + box):(0):(only($3, $6 == 1 && $2 == i)) \
         with boxxyerror fillstyle pattern 4 border lc rgb hue[2 + i] fillcolor rgb hue[2 + i] dt solid lw 0.8 \
         title "doubtful", \
     1 with lines lc rgb "#1a1a1a" dt (8,4) lw 1 title "line", \
     table using 1:($5 > $4 && $7 == 3 ? $4 : NaN):(0):(cut($5) - $4) with vectors heads size graph 0.006,90 \
         lc rgb "#1a1a1a" dt solid lw 1 title "interval", \
     table using 1:($5 > $4 && $7 != 3 ? $4 : NaN):(0):(cut($5) - $4) with vectors nohead lc rgb "#1a1a1a" dt (2,4) lw 1.6 \
         title "range", \
     table using 1:(cut($5)):(value_of($3, $6)) with labels center boxed offset 0,1.8 noenhanced font ",15" title "value", \
     for [i = 0:1] table using 1:(only(cut($5), ($6 > 1) == i)):(range_of($4, $5, $6)) \
         with labels center boxed offset 0,0.7 + 1.3 * i noenhanced font ",11" tc rgb "#444444" title "ends"
