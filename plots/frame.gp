# frame.gp: the place of panel p, the words above it, and its axes.
set lmargin at screen is("left") / width
set rmargin at screen is("right") / width
set tmargin at screen down("top")
set bmargin at screen down("bottom")
unset label
unset logscale
if (is("xbase") > 0) { set logscale x is("xbase") }
if (is("ybase") > 0) { set logscale y is("ybase") }
set xrange [is("xlo"):is("xhi")]
set yrange [is("ylo"):is("yhi")]
set xtics ()
set ytics ()
do for [t in is("xticks")] { set xtics add (t t + 0) }
do for [t in is("xbare")] { set xtics add ("" t + 0) }
do for [t in is("yticks")] { set ytics add (label_of(t + 0) t + 0) }
set label 1 say(1) at screen is("at") / width, down("title") noenhanced font ",17"
set label 2 say(2) at screen is("at") / width, down("note") noenhanced font ",13" tc rgb "#444444"
set label 5 say(3) at screen (is("left") + is("right")) / (2 * width), down("bottom") - is("below") / height \
    center noenhanced
set label 4 say(4) at screen (is("left") - 66) / width, (down("top") + down("bottom")) / 2 \
    rotate by 90 center noenhanced
set label 3 (p == panels ? text[texts] : "") at screen 16 / width, 16 / height noenhanced \
    font ",11" tc rgb "#555555"
