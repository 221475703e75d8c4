# throughput.gp: throughput against global batch, a panel per workload, a line per device count.
#
# Static. The caller sets numbers and its own file names (gnuplot -e): terminal, out, panels, and
# for each panel p: series_p hollow_p simulated_p xlo_p xhi_p ylo_p yhi_p xticks_p xbare_p yticks_p.
# Data: throughput-P.tsv, a block per line (batch, throughput, low, high, filled, hollow), then a
# block per label (end x y, label x y, filled, hollow, text). throughput-text.tsv: 0 footer, then titles.
set encoding utf8
set datafile separator "\t"
set datafile commentschars ""

panel_height = 520
height = panels * panel_height + 40
if (terminal eq "svg") {
    set terminal svg size 1000,height dynamic background rgb "white" font "DejaVu Sans,16" \
        name "throughput" linewidth 1.5
} else { if (terminal eq "pngcairo") {
    set terminal pngcairo size 2000,2*height background rgb "white" font "DejaVu Sans,16" \
        fontscale 1.8 linewidth 3
} else {
    set terminal png size 2000,2*height background rgb "white" font "DejaVu Sans,24"
} }
size_of = terminal eq "svg" ? 0.6 : 1.6
set output out

# Colours after Wong 2011, dark enough for lines on white; each with its own marker and dash.
# 11 to 16 are the same for what was simulated: all dash-dot.
set linetype 1 linecolor rgb "#000000" dashtype 1 pointtype 7
set linetype 2 linecolor rgb "#0072b2" dashtype (14,4) pointtype 5
set linetype 3 linecolor rgb "#d55e00" dashtype (5,4) pointtype 9
set linetype 4 linecolor rgb "#009e73" dashtype (14,4,3,4) pointtype 13
set linetype 5 linecolor rgb "#cc79a7" dashtype (3,3) pointtype 11
set linetype 6 linecolor rgb "#e69f00" dashtype (14,4,3,4,3,4) pointtype 15
set linetype 11 linecolor rgb "#000000" dashtype (12,4,2,4) pointtype 7
set linetype 12 linecolor rgb "#0072b2" dashtype (12,4,2,4) pointtype 5
set linetype 13 linecolor rgb "#d55e00" dashtype (12,4,2,4) pointtype 9
set linetype 14 linecolor rgb "#009e73" dashtype (12,4,2,4) pointtype 13
set linetype 15 linecolor rgb "#cc79a7" dashtype (12,4,2,4) pointtype 11
set linetype 16 linecolor rgb "#e69f00" dashtype (12,4,2,4) pointtype 15
marker = "7 5 9 13 11 15"
filled(s) = int(word(marker, s))
open(s) = filled(s) - 1

words = ""
row = 0
stats 'throughput-text.tsv' using (words = stringcolumn(2), $1) every ::row::row nooutput
footer = words

set border 3 linecolor rgb "#444444"
set tics nomirror out scale 0.6
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
set lmargin at screen (terminal eq "svg" ? 0.11 : 0.125)
set rmargin at screen 0.98
unset key

label_of(v) = v < 1 ? sprintf("%g", v) : gprintf("%.0s%c", v)
set multiplot
do for [p = 1:panels] {
    file = sprintf("throughput-%d.tsv", p)
    series = value(sprintf("series_%d", p))
    simulated = value(sprintf("simulated_%d", p))
    first = simulated ? 10 : 0
    row = p
    unset logscale
    set datafile missing
    stats 'throughput-text.tsv' using (words = stringcolumn(2), $1) every ::row::row nooutput
    set datafile missing "nan"
    set logscale x 2
    set logscale y 10
    top = 1.0 - (p - 1) * panel_height / (height + 0.0)
    set tmargin at screen top - 66.0 / height
    set bmargin at screen top - (panel_height - 70.0) / height
    unset label
    set label 1 words at screen 0.02, top - 24.0 / height noenhanced font ",17"
    note = ""
    if (value(sprintf("hollow_%d", p))) { note = "hollow markers: more devices than cores" }
    if (simulated) { note = "SIMULATED, not measured (hollow markers)" }
    set label 2 note at screen 0.02, top - 46.0 / height font ",13" tc rgb "#555555"
    if (p == panels) {
        set label 3 footer at screen 0.02, 16.0 / height noenhanced font ",11" tc rgb "#555555"
    }
    set xrange [value(sprintf("xlo_%d", p)):value(sprintf("xhi_%d", p))]
    set yrange [value(sprintf("ylo_%d", p)):value(sprintf("yhi_%d", p))]
    set xtics ()
    do for [t in value(sprintf("xticks_%d", p))] { set xtics add (t t + 0) }
    do for [t in value(sprintf("xbare_%d", p))] { set xtics add ("" t + 0) }
    set ytics ()
    do for [t in value(sprintf("yticks_%d", p))] { set ytics add (label_of(t + 0) t + 0) }
    set xlabel "global batch (rows)" offset 0,0.3
    set ylabel "throughput (samples/s)" offset (terminal eq "svg" ? 0.5 : -0.6),0
    plot for [s = 1:series] file index series + s - 1 using 1:2:($3 - $1):($4 - $2) \
             with vectors nohead lc rgb "#aaaaaa" lw 0.6 dt solid title "leader", \
         for [s = 1:series] file index s - 1 using 1:3:(0):($4 - $3) \
             with vectors heads nofilled size graph 0.006,90 lt s dt solid lw 1 title "range p05..p95", \
         for [s = 1:series] file index s - 1 using 1:2 \
             with lines lt first + s lw 1.4 title "line", \
         for [s = 1:series] file index s - 1 using 1:5 \
             with points lt s pt filled(s) ps size_of title "measured", \
         for [s = 1:series] file index s - 1 using 1:6 \
             with points lt s pt 7 ps size_of lc rgb "white" title "hollow", \
         for [s = 1:series] file index s - 1 using 1:6 \
             with points lt s pt open(s) ps size_of lw 1.2 title "hollow", \
         for [s = 1:series] file index series + s - 1 using 3:4:7 \
             with labels left offset 1.5,0 noenhanced tc rgb "#222222" title "label", \
         for [s = 1:series] file index series + s - 1 using 3:5 \
             with points lt s pt filled(s) ps size_of title "label", \
         for [s = 1:series] file index series + s - 1 using 3:6 \
             with points lt s pt open(s) ps size_of lw 1.2 title "label"
}
unset multiplot
set output
