/* report/peer_figure.c: the figure of a comparison with PyTorch: a panel per workload and batch, in
 * it a row per program: the median step, its interval or range, and the ratio to DDP's step. */
#include "report/figure.h"
#include "report/peer_report.h"

#include <math.h>

enum { WIDTH = 1000, ROW = 32, ABOVE = 66, BELOW = 88, NAMES = 290, VALUES = 190 };

/* Which mark an arm gets: lockstep, PyTorch, or the matrix products alone. */
static int style_of(const struct peer_arm *arm)
{
    switch (arm->kind) {
    case PEER_LOCKSTEP_DP:
    case PEER_LOCKSTEP_DDP:
    case PEER_LOCKSTEP_PLAIN:
        return 0;
    case PEER_PYTORCH_MATMUL:
        return 2;
    default:
        return 1;
    }
}

static double row_of(const struct peer_cell *cell, size_t arm)
{
    return (double)(cell->n_arms - arm);
}

/* A block per style; a style without arms has a row that is not drawn, so that blocks count. */
static void write_marks(struct text_out *out, const struct peer_cell *cell, double unit)
{
    for (int style = 0; style < 3; ++style) {
        for (size_t a = 0; a < cell->n_arms; ++a) {
            const struct report_value step = peer_step(&cell->arm[a]);
            const bool one = step.range == REPORT_NONE;

            if (style_of(&cell->arm[a]) == style && isfinite(step.middle))
                fprintf(out->file, "%.9g\t%g\t%.9g\t%.9g\n", step.middle / unit, row_of(cell, a),
                        (one ? step.middle : step.lo) / unit, (one ? step.middle : step.hi) / unit);
        }
        fputs("nan\tnan\tnan\tnan\n\n\n", out->file);
    }
}

static void value_words(const struct peer_cell *cell, size_t a, const struct peer_arm *ddp,
                        char text[REPORT_CELL_TEXT])
{
    const struct peer_arm *arm = &cell->arm[a];
    const struct report_value ratio = peer_ratio(arm, ddp);
    char words[32];

    text[0] = '\0';
    if (arm->wrong) {
        report_add(text, "wrong numbers: not reported");
        return;
    }
    report_time(peer_step(arm).middle, words);
    report_add(text, "%s", words);
    if (arm == ddp || !isfinite(ratio.middle))
        return;
    report_add(text, ", ");
    report_add_ratio(text, ratio.middle);
    report_add(text, " of %s", peer_parallel_name(cell));
}

/* Names at the left edge, then the numbers behind the marks. */
static void write_words(struct text_out *out, const struct peer_record *record,
                        const struct peer_cell *cell, double unit, const struct plot_axis *x)
{
    const struct peer_arm *ddp = peer_parallel(cell, record->devices);
    char text[REPORT_CELL_TEXT], name[96];

    for (size_t a = 0; a < cell->n_arms; ++a) {
        peer_arm_words(&cell->arm[a], cell, name);
        fprintf(out->file, "%.9g\t%g\t%s\n", x->lo, row_of(cell, a), name);
    }
    fputs("\n\n", out->file);
    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct report_value step = peer_step(&cell->arm[a]);
        const double end = isfinite(step.hi) ? step.hi / unit : step.middle / unit;

        value_words(cell, a, ddp, text);
        fprintf(out->file, "%.9g\t%g\t%s\n", isfinite(end) ? end : x->lo, row_of(cell, a), text);
    }
}

/* False when nothing of it can be drawn. */
static bool measure(const struct peer_cell *cell, struct plot_frame *frame, double *unit)
{
    double most = 0.0;
    const char *name;

    frame->x = plot_axis_make(10.0);
    frame->y = plot_axis_make(0.0);
    for (size_t a = 0; a < cell->n_arms; ++a)
        most = fmax(most, peer_step(&cell->arm[a]).middle);
    if (!(most > 0.0))
        return false;
    *unit = plot_unit(most, &name);
    for (size_t a = 0; a < cell->n_arms; ++a) {
        const struct report_value step = peer_step(&cell->arm[a]);

        plot_axis_add(&frame->x, step.middle / *unit);
        plot_axis_add(&frame->x, step.lo / *unit);
        plot_axis_add(&frame->x, step.hi / *unit);
    }
    plot_axis_pad(&frame->x, 0.05, 0.05, 4.0);
    plot_axis_round(&frame->x);
    plot_axis_thin(&frame->x, WIDTH - VALUES - NAMES);
    plot_axis_add(&frame->y, 0.4);
    plot_axis_add(&frame->y, (double)cell->n_arms + 0.6);
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, "time of a step (%s), logarithmic", name);
    return true;
}

static int write_panel(struct plot *plot, const struct peer_record *record,
                       const struct peer_cell *cell)
{
    struct plot_frame frame = {.left = NAMES, .right = WIDTH - VALUES, .at = 20};
    struct text_out out;
    double unit = 1.0;

    if (!measure(cell, &frame, &unit))
        return 0;
    snprintf(frame.words[PLOT_TITLE], REPORT_CELL_TEXT, "%s, batch %zu", cell->workload,
             cell->batch);
    plot_fit(frame.words[PLOT_TITLE], WIDTH - 40, 17);
    snprintf(frame.words[PLOT_NOTE], REPORT_CELL_TEXT, "%d devices or processes%s; lower is better",
             record->devices, record->oversubscribed ? ", more than cores: no evidence" : "");
    frame.title = plot->height + 24;
    frame.note = plot->height + 46;
    frame.top = plot->height + ABOVE;
    frame.bottom = frame.top + ROW * (double)cell->n_arms;
    plot->height = frame.bottom + BELOW;
    plot_frame_write(plot, &frame);
    if (plot_data_open(plot, &out) != 0)
        return -1;
    write_marks(&out, cell, unit);
    write_words(&out, record, cell, unit, &frame.x);
    return text_close(&out, plot->err);
}

int figure_peer(struct plot *plot)
{
    const struct peer_record *record = figure_report(plot)->peer;

    plot->width = WIDTH;
    if (!record)
        return 0;
    snprintf(plot->why, sizeof plot->why, "no launch of the comparison was good");
    snprintf(plot->footer, sizeof plot->footer,
             "PyTorch %s, %.80s, %.10s, commit %.12s%s, seed %s; load %.1f at the start, %.1f at "
             "the end%s",
             record->torch, record->cpu_model, record->created_utc, record->git_sha,
             record->git_dirty ? " (modified)" : "", record->seed, record->load_start,
             record->load_end, record->complete ? "" : "; NOT FINISHED");
    for (size_t c = 0; c < record->n_cells; ++c) {
        if (plot->panels == PLOT_MAX_ROWS)
            ++plot->left_out;
        else if (write_panel(plot, record, &record->cell[c]) != 0)
            return -1;
    }
    return plot->panels > 0;
}
