# overlap.gp: a step of ranks without its reduction, the reduction alone upon it, and the whole step.
#
# Data, blocks of overlap-P.tsv: x, left, right, from, to of the computation, then of the reduction;
# then left, whole step, length; x, y, share that is hidden; x, name.
parts = "'without reduction' 'reduction alone'"
array fill[2] = [3, 1]
array colour[2] = [0x8fd0b8, 0x7a2f5e]
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] {
    load 'frame.gp'
    file = sprintf("%s-%d.tsv", figure, p)
    unset object
    unset arrow
    if (is("key")) {
        do for [i = 1:2] {
            y = 1 - (is("keytop") + (2 - i) * 26) / height
            set object i rectangle from screen is("keyleft") / width, y - 16 / height \
                to screen (is("keyleft") + 26) / width, y front \
                fillstyle pattern fill[i] border lc rgb "#333333" fillcolor rgb colour[i] lw 0.6
            set label 10 + i word(parts, i) at screen (is("keyleft") + 34) / width, y - 8 / height \
                font ",13"
        }
        y = 1 - (is("keytop") + 2 * 26 + 6) / height
        set label 20 "whole step" at screen (is("keyleft") + 34) / width, y - 8 / height font ",13"
        set arrow 1 from screen is("keyleft") / width, y - 8 / height \
            to screen (is("keyleft") + 26) / width, y - 8 / height nohead lc rgb "black" lw 1.6 front
        y = y - 26 / height
        set label 21 "%: reduction hidden" at screen is("keyleft") / width, y - 8 / height \
            noenhanced font ",13"
    }
    plot for [i = 1:2] file index i - 1 using 1:4:2:3:4:5 with boxxyerror \
             fillstyle pattern fill[i] border lc rgb "#333333" fillcolor rgb colour[i] dt solid lw 0.6 \
             title word(parts, i), \
         file index 2 using 1:2:3:(0) with vectors nohead lc rgb "black" dt solid lw 1.6 title "step", \
         file index 3 using 1:2:3 with labels center offset 0,0.7 noenhanced font ",12" title "label", \
         file index 4 using 1:(0):xtic(2) with points pt -1 title "names"
}
