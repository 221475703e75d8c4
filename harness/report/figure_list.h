/* report/figure_list.h: the figures of a report. Each is a row, in the order of the page.
 *
 * A row has four columns: the end of its name in enum report_figure; the name of its files and of
 * plots/NAME.gp; its writer (report/figure.h); its title. The function NAME of report/caption.c
 * writes its caption. */
#ifndef HARNESS_REPORT_FIGURE_LIST_H
#define HARNESS_REPORT_FIGURE_LIST_H

#define REPORT_FIGURE_LIST(F)                                                                      \
    F(MAP, map, figure_map, "Where it scales")                                                     \
    F(SCALING, scaling, figure_scaling, "Scaling")                                                 \
    F(WATERFALL, waterfall, figure_waterfall, "Where a step goes")                                 \
    F(BATCH, batch, figure_by_batch, "Batch and throughput")                                       \
    F(ROOFLINE, roofline, figure_roofline, "Operations and bytes")                                 \
    F(LIMITS, limits, figure_limits, "Each phase against its limit")                               \
    F(TRUST, trust, figure_trust, "Can the launches be trusted?")                                  \
    F(PEER, peer, figure_peer, "Side by side")                                                     \
    F(OVERLAP, overlap, figure_overlap, "Communication and what is hidden of it")                  \
    F(BANDWIDTH, bandwidth, figure_bandwidth, "Bus bandwidth of collectives")

#endif
