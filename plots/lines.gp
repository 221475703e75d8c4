# lines.gp: panel p as lines: series with ranges, markers, labels at their ends, and references.
#
# Data: FIGURE-P.tsv has blocks, two empty lines apart, an empty line inside breaks a line:
#   for each series    x, y, low, high, filled, hollow    (marker: filled or hollow y, the other nan)
#   for each label     end x y, label x y, filled, hollow, text
#   for each series    x, ideal          for each series    x, bound
#   for each series    x, y of the plain program
load 'frame.gp'
file = sprintf("%s-%d.tsv", figure, p)
n = is("series")
first = is("simulated") ? 10 : 0
style(s) = pick("styles", s)
# Bars of several lines at one place stand beside each other.
shift(x, s) = x * 2 ** (is("dodge") * (s - (n + 1) / 2.0))
# A hollow marker is one with a white one inside: outlines alone are too thin in an SVG.
plot for [s = 1:n] file index 2*n + s - 1 using 1:2 \
         with lines lc rgb "#777777" dt (2,7) lw 0.9 title "ideal", \
     for [s = 1:n] file index 3*n + s - 1 using 1:2 with lines lt style(s) dt (10,6) lw 0.6 title "bound", \
     for [s = 1:n] file index n + s - 1 using (shift($1, s)):2:($3 - shift($1, s)):($4 - $2) \
         with vectors nohead lc rgb "#aaaaaa" lw 0.6 dt solid title "leader", \
     for [s = 1:n] file index s - 1 using (shift($1, s)):3:(0):($4 - $3) \
         with vectors heads nofilled size graph 0.006,90 lt style(s) dt solid lw 1 title "bar", \
     for [s = 1:n] file index s - 1 using (shift($1, s)):2 \
         with lines lt first + style(s) lw 1.4 title "line", \
     for [s = 1:n] for [y = 5:6] file index s - 1 using (shift($1, s)):y \
         with points lt style(s) pt marker(style(s)) ps size_of title "marker", \
     for [s = 1:n] file index s - 1 using (shift($1, s)):6 \
         with points lt style(s) pt marker(style(s)) ps inner*size_of lc rgb "white" title "hollow", \
     for [s = 1:n] file index s - 1 using (shift($1, s)):(style(s) == 7 && $5 > 0 ? $2 : NaN):(cross) \
         with labels tc lt style(s) font ",17" title "plain", \
     for [s = 1:n] file index 4*n + s - 1 using 1:2:(cross) \
         with labels tc lt style(s) font ",20" title "plain", \
     for [s = 1:n] file index n + s - 1 using 3:4:7 \
         with labels left offset 1.2,0 noenhanced font ",13" tc rgb "#222222" title "label", \
     for [s = 1:n] file index n + s - 1 using 3:4 \
         with points lt style(s) pt marker(style(s)) ps size_of title "sample", \
     for [s = 1:n] file index n + s - 1 using 3:6 \
         with points lt style(s) pt marker(style(s)) ps inner*size_of lc rgb "white" title "sample", \
     for [s = 1:n] file index n + s - 1 using 3:(style(s) == 7 ? $4 : NaN):(cross) \
         with labels tc lt style(s) font ",17" title "sample"
