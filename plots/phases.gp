# phases.gp: the phases of a step, stacked: a bar per device count, a panel per group and batch.
#
# Hatched: data moves; filled: something is computed. The fills differ in lightness, too.
# Data, blocks of phases-P.tsv: 9 of x, left, right, from, to (a phase each, from the bottom);
# then left, step, length; x, low, high of the step; x, time in matrix products; x, y, label.
phases = "scatter replicate forward gather loss backward reduce update other"
array fill[9] = [4, 6, 3, 5, 3, 3, 1, 3, 0]
array colour[9] = [0x0072b2, 0x0072b2, 0x8fd0b8, 0x7a2f5e, 0x222222, 0xd55e00, 0x7a2f5e, 0xf0e442, 0xffffff]
set grid ytics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
do for [p = 1:panels] {
    load 'frame.gp'
    file = sprintf("%s-%d.tsv", figure, p)
    unset object
    if (is("key")) {
        do for [i = 1:9] {
            y = 1 - (is("keytop") + (9 - i) * 26) / height
            set object i rectangle from screen is("keyleft") / width, y - 16 / height \
                to screen (is("keyleft") + 26) / width, y front \
                fillstyle pattern fill[i] border lc rgb "#333333" fillcolor rgb colour[i] lw 0.6
            set label 10 + i word(phases, i) at screen (is("keyleft") + 34) / width, y - 8 / height \
                font ",13"
        }
        y = 1 - (is("keytop") + 9 * 26 + 6) / height
        set label 20 "step (median)" at screen (is("keyleft") + 34) / width, y - 8 / height font ",13"
        set arrow 1 from screen is("keyleft") / width, y - 8 / height \
            to screen (is("keyleft") + 26) / width, y - 8 / height nohead lc rgb "black" lw 1.6 front
        y = y - 26 / height
        set label 21 "matrix products" at screen (is("keyleft") + 34) / width, y - 8 / height \
            font ",13"
        set label 22 "" at screen (is("keyleft") + 13) / width, y - 8 / height \
            point pt 13 ps 1.4 * size_of lc rgb "black" front
        set label 23 "" at screen (is("keyleft") + 13) / width, y - 8 / height \
            point pt 13 ps 0.8 * size_of lc rgb "white" front
    }
    plot for [i = 1:9] file index i - 1 using 1:4:2:3:4:5 with boxxyerror \
             fillstyle pattern fill[i] border lc rgb "#333333" fillcolor rgb colour[i] dt solid lw 0.6 \
             title word(phases, i), \
         file index 9 using 1:2:3:(0) with vectors nohead lc rgb "black" dt solid lw 1.6 title "step", \
         file index 10 using 1:2:(0):($3 - $2) with vectors heads nofilled size graph 0.008,90 \
             lc rgb "black" dt solid lw 0.8 title "bar", \
         file index 11 using 1:2 with points pt 13 ps 1.4 * size_of lc rgb "black" title "matmul", \
         file index 11 using 1:2 with points pt 13 ps 0.8 * size_of lc rgb "white" title "hollow", \
         file index 12 using 1:2:3 with labels center offset 0,0.7 noenhanced font ",12" title "label", \
         file index 13 using 1:(0):xtic(2) with points pt -1 title "names"
}
