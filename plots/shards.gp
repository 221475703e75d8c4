# shards.gp: which rows went to which device. A strip per number of rows and devices.
#
# The plot is the picture: one unit is one pixel, from the left and from the top. Data, blocks of
# shards-1.tsv: 6 of left, right, top, bottom (blocks of rows, a tint each); one of slots without
# rows; then x, y, text of: middle, small and left-bound words.
array tint[6] = [0xc6dff0, 0xf7d3b8, 0xc5e8da, 0xf3e9a8, 0xe8cfe0, 0xdddddd]
p = 1
load 'frame.gp'
unset border
unset tics
file = "shards-1.tsv"
plot for [i = 1:6] file index i - 1 using 1:3:1:2:3:4 with boxxyerror \
         fillstyle solid border lc rgb "#333333" fillcolor rgb tint[i] dt solid lw 0.8 title "rows", \
     file index 6 using 1:3:1:2:3:4 with boxxyerror \
         fillstyle empty border lc rgb "#777777" dt (5,4) lw 0.8 title "idle", \
     file index 7 using 1:2:3 with labels center noenhanced font ",13" title "label", \
     file index 8 using 1:2:3 with labels center noenhanced font ",11" tc rgb "#444444" title "label", \
     file index 9 using 1:2:3 with labels left noenhanced font ",15" title "label"
