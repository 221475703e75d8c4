# map.gp: efficiency of the bound: a panel per workload and mode, a cell per devices and batch.
#
# The stronger the colour, the nearer to the bound. Hatched: not certain. Grey: more devices than cores, or
# simulated. Columns: place of the devices and of the batch, percent (-1: not measured well
# enough), half of its interval (-1: none), 0: counts, 1: not certain, 2: grey, 1: a launch was disturbed.
x_name = "devices"
y_name = "batch"
array shade[6] = [0xe3d5f5, 0xd0bcec, 0xb9a2e0, 0x9f86cf, 0x7560b5, 0x54278f]
step_of(v) = v < 20 ? 1 : v < 40 ? 2 : v < 60 ? 3 : v < 75 ? 4 : v < 90 ? 5 : 6
# As it is written: 89.6 is 90.
fill_of(v, state) = state > 1 ? 0xe4e4e4 : state > 0 ? 0xffffff : shade[step_of(floor(v + 0.5))]
ink_of(v, state) = state > 1 ? 0x6b6b6b : state > 0 || step_of(floor(v + 0.5)) < 5 ? 0x1a1a1a : 0xfffffe
# Below the panel, unless the cell is not certain.
only(y, state) = state == 1 ? y : -9
set autoscale
unset logscale
do for [p = 1:panels] {
    load 'panel.gp'
    counts = is("counts")
    batches = is("batches")
    set border 0
    set xrange [0.5:words(counts) + 0.5]
    set yrange [0.5:words(batches) + 0.5]
    set xtics () scale 0 offset 0,0.3
    do for [i = 1:words(counts)] { set xtics add (word(counts, i) i) }
    set ytics () scale 0
    do for [i = 1:words(batches)] { set ytics add ((column == 0 ? word(batches, i) : "") i) }
    plot table index is("block") using 1:2:($1 - 0.48):($1 + 0.48):($2 - 0.46):($2 + 0.46):(fill_of($3, $5)) \
             with boxxyerror fillstyle solid noborder lc rgb variable title "cell", \
         table index is("block") using 1:(only($2, $5)):($1 - 0.48):($1 + 0.48):(only($2, $5) - 0.46):(only($2, $5) + 0.46) \
             with boxxyerror fillstyle pattern 4 border lc rgb "#c9c6e3" fillcolor rgb "#d8d5ea" lw 0.6 title "open", \
         table index is("block") using 1:($4 < 0 ? $2 : $2 + 0.13):(($3 < 0 ? "?" : sprintf("%.0f", $3)).($6 > 0 ? " !" : "")):(ink_of($3, $5)) \
             with labels center font ",13" tc rgb variable title "share", \
         table index is("block") using 1:($2 - 0.24):($4 < 0 ? "" : sprintf("±%.0f", $4)):(ink_of($3, $5)) \
             with labels center font ",10" tc rgb variable title "half"
}
