# peer.gp: step times of several programs: a panel per workload and batch, a row per program.
#
# Data, blocks of peer-P.tsv: x, row, low, high of lockstep; of PyTorch; of matrix products alone;
# then left edge, row, name; right end, row, number and ratio.
set grid xtics linecolor rgb "#dddddd" linetype 1 linewidth 0.5
array mark[3] = [7, 5, 13]
array colour[3] = [0x0072b2, 0xd55e00, 0x555555]
do for [p = 1:panels] {
    load 'frame.gp'
    set border 1
    unset ytics
    file = sprintf("%s-%d.tsv", figure, p)
    plot for [i = 1:3] file index i - 1 using 3:2:($4 - $3):(0) with vectors heads nofilled \
             size graph 0.006,90 lc rgb colour[i] dt solid lw 1.2 title "bar", \
         for [i = 1:3] file index i - 1 using 1:2 with points pt mark[i] ps 1.3 * size_of \
             lc rgb colour[i] title word("lockstep PyTorch matmul", i), \
         file index 3 using 1:2:3 with labels right offset -1,0 noenhanced font ",13" title "name", \
         file index 4 using 1:2:3 with labels left offset 1.2,0 noenhanced font ",13" title "number"
}
