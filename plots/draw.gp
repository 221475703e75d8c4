# draw.gp: draws one figure, as SVG and as PNG: gnuplot -d -e "figure='scaling'" draw.gp
#
# Static, as all scripts here. FIGURE-layout.gp has numbers only: size of the picture in pixels, then
# for each panel p NAME_p. FIGURE-text.tsv has the words: text is only ever data and noenhanced.
# `ending` goes behind the names of the pictures (they count only when they are complete).
set encoding utf8
set datafile separator "\t"
set datafile commentschars ""
if (!exists("ending")) { ending = "" }
load figure."-layout.gp"
load 'grid.gp'

words = ""
array text[texts]
do for [row = 0:texts - 1] {
    stats figure.'-text.tsv' using (words = stringcolumn(2), $1) every ::row::row nooutput
    text[row + 1] = words
}
set datafile missing "nan"

# A number of panel p, a word of a list of panel p, and a text of panel p.
is(name) = value(sprintf("%s_%d", name, p))
pick(name, i) = int(word(is(name), i))
say(i) = text[is("text") + i]

# Colours after Wong 2011, dark enough for lines on white; each with its own marker and dash.
set linetype 1 linecolor rgb "#000000" dashtype 1
set linetype 2 linecolor rgb "#0072b2" dashtype (14,4)
set linetype 3 linecolor rgb "#d55e00" dashtype (5,4)
set linetype 4 linecolor rgb "#009e73" dashtype (14,4,3,4)
set linetype 5 linecolor rgb "#cc79a7" dashtype (3,3)
set linetype 6 linecolor rgb "#b07800" dashtype (14,4,3,4,3,4)
set linetype 7 linecolor rgb "#555555" dashtype (2,5)
inner = 0.5
end_format = ""
end_open = 0

set border 3 linecolor rgb "#444444"
set tics nomirror out scale 0.6
unset key
label_of(v) = v == 0 ? "0" : abs(v) < 0.1 ? sprintf("%.2g", v) : abs(v) < 10000 ? sprintf("%g", v) : gprintf("%.0s%c", v)

# What behind the name, as in harness/plot/gnuplot.c; the last is for narrow pages.
array picture[3] = [".svg", ".png", "-narrow.svg"]
if (!exists("pictures")) { pictures = 2 }
do for [picture_number = 1:pictures] {
    is_svg = picture_number != 2
    if (picture_number == 3) {
        load figure."-layout.gp"
        width = 360
        load 'grid.gp'
    }
    if (is_svg) {
        set terminal svg size width,height dynamic background rgb "white" \
            font "DejaVu Sans,15" name figure linewidth 1.5
    } else { if (strstrt(GPVAL_TERMINALS, " pngcairo ")) {
        set terminal pngcairo size 2*width,2*height background rgb "white" \
            font "DejaVu Sans,15" fontscale 1.6 linewidth 3
    } else {
        set terminal png size 2*width,2*height background rgb "white" \
            font "DejaVu Sans,15" fontscale 1.6 linewidth 3
    } }
    size_of = is_svg ? 0.6 : 2.1
    set output figure.picture[picture_number].ending
    set multiplot
    load figure.".gp"
    unset multiplot
    set output
}
