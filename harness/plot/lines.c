/* plot/lines.c: a panel of lines, as plots/lines.gp draws it.
 *
 * Labels stand at the ends of the lines, moved apart where they would overlap. */
#include "plot/plot.h"

#include <math.h>

static const double LABEL_HEIGHT = 18.0; /* pixels from one label to the next */

struct plot_line *plot_lines_add(struct plot_lines *lines, int style)
{
    struct plot_line *line = &lines->line[lines->n];

    ++lines->n;
    line->style = style;
    line->label[0] = '\0';
    line->n = 0;
    line->plain[0] = line->plain[1] = line->label_place = NAN;
    for (int i = 0; i < 2; ++i)
        line->ideal[i][0] = line->ideal[i][1] = NAN;
    return line;
}

void plot_lines_measure(struct plot_lines *lines)
{
    struct plot_axis *x = &lines->frame.x, *y = &lines->frame.y;

    for (int s = 0; s < lines->n; ++s) {
        const struct plot_line *line = &lines->line[s];

        for (size_t i = 0; i < line->n; ++i) {
            plot_axis_add(x, line->mark[i].x);
            plot_axis_add(y, line->mark[i].y);
            plot_axis_add(y, line->mark[i].lo);
            plot_axis_add(y, line->mark[i].hi);
            plot_axis_add(y, line->mark[i].bound);
        }
        plot_axis_add(y, line->plain[1]);
    }
}

static void write_number(FILE *file, double number, const char *after)
{
    if (isfinite(number))
        fprintf(file, "%.9g", number);
    else
        fputs("nan", file);
    fputs(after, file);
}

static void write_pair(FILE *file, double x, double y)
{
    write_number(file, x, "\t");
    write_number(file, y, "\n");
}

/* Six numbers, nan for what there is not. */
static void write_marks(FILE *file, const struct plot_line *line)
{
    for (size_t i = 0; i < line->n; ++i) {
        const struct plot_mark *mark = &line->mark[i];

        if (mark->gap && i > 0)
            fputs("\n", file);
        fprintf(file, "%.9g\t%.9g\t", mark->x, mark->y);
        if (isfinite(mark->lo) && isfinite(mark->hi))
            fprintf(file, "%.9g\t%.9g\t", mark->lo, mark->hi);
        else
            fputs("nan\tnan\t", file);
        if (mark->bare)
            fputs("nan\tnan\n", file);
        else
            fprintf(file, mark->hollow ? "nan\t%.9g\n" : "%.9g\tnan\n", mark->y);
    }
    if (line->n == 0)
        fputs("nan\tnan\tnan\tnan\tnan\tnan\n", file);
    fputs("\n\n", file);
}

static void write_labels(struct text_out *out, const struct plot_lines *lines, double label_x)
{
    const struct plot_frame *frame = &lines->frame;
    const double height = frame->bottom - frame->top;
    double place[PLOT_MAX_LINES];
    char text[PLOT_TEXT];
    int n = 0;

    for (int s = 0; s < lines->n; ++s) {
        const struct plot_line *line = &lines->line[s];

        if (line->n > 0)
            place[n++] = isfinite(line->label_place)
                             ? line->label_place
                             : plot_axis_place(&frame->y, line->mark[line->n - 1].y);
    }
    plot_spread(place, n, LABEL_HEIGHT / height, 8.0 / height, 1.0 - 8.0 / height);
    n = 0;
    for (int s = 0; s < lines->n; ++s) {
        const struct plot_line *line = &lines->line[s];

        if (line->n == 0) {
            fputs("nan\tnan\tnan\tnan\tnan\tnan\t-\n\n\n", out->file);
            continue;
        }
        const struct plot_mark *end = &line->mark[line->n - 1];
        const bool placed = isfinite(line->label_place);
        const double label_y = plot_axis_value(&frame->y, place[n++]);

        write_number(out->file, placed ? (double)NAN : end->x, "\t");
        write_number(out->file, placed ? (double)NAN : end->y, "\t");
        write_number(out->file, label_x, "\t");
        write_number(out->file, label_y, "\t");
        fprintf(out->file, end->hollow ? "nan\t%.9g\t" : "%.9g\tnan\t", label_y);
        snprintf(text, sizeof text, "%s", line->label);
        plot_plain_text(text);
        text_print(out, "%s\n\n\n", text);
    }
}

int plot_lines_write(struct plot *plot, struct plot_lines *lines)
{
    /* The x axis grows to the right, by the room for the labels. */
    struct plot_frame *frame = &lines->frame;
    const double pixels = frame->right - frame->left, free = pixels - lines->label_pixels;

    frame->x.hi = plot_axis_value(&frame->x, pixels / free);
    plot_axis_thin(&frame->x, pixels);
    const double label_x = plot_axis_value(&frame->x, (free + 20.0) / pixels);
    double apart = lines->dodge * log2(frame->x.hi / frame->x.lo) / pixels;
    struct text_out out;
    FILE *layout = plot->layout.file;

    plot_frame_write(plot, &lines->frame);
    plot_number(plot, "series", lines->n);
    plot_number(plot, "simulated", lines->simulated);
    /* Bars of neighbouring lines stand that far apart, in octaves: less where ticks are near. */
    for (int i = 1; i < frame->x.n; ++i)
        apart = fmin(apart, 0.4 * log2(frame->x.tick[i] / frame->x.tick[i - 1]) / (lines->n + 1));
    plot_number(plot, "dodge", lines->dodge > 0.0 ? apart : 0.0);
    fprintf(layout, "styles_%d = '", plot->panels);
    for (int s = 0; s < lines->n; ++s)
        fprintf(layout, "%d ", lines->line[s].style);
    fputs("'\n", layout);
    if (plot_data_open(plot, &out) != 0)
        return -1;
    fprintf(out.file, "# for each line: x, y, low, high, y if filled, y if hollow; then, for each "
                      "line, its label, its ideal, its bound, its plain program\n");
    for (int s = 0; s < lines->n; ++s)
        write_marks(out.file, &lines->line[s]);
    write_labels(&out, lines, label_x);
    for (int s = 0; s < lines->n; ++s) {
        for (int i = 0; i < 2; ++i)
            write_pair(out.file, lines->line[s].ideal[i][0], lines->line[s].ideal[i][1]);
        fputs("\n\n", out.file);
    }
    for (int s = 0; s < lines->n; ++s) {
        const struct plot_line *line = &lines->line[s];

        for (size_t i = 0; i < line->n; ++i)
            write_pair(out.file, line->mark[i].x, line->mark[i].bound);
        if (line->n == 0)
            write_pair(out.file, NAN, NAN);
        fputs("\n\n", out.file);
    }
    for (int s = 0; s < lines->n; ++s) {
        write_pair(out.file, lines->line[s].plain[0], lines->line[s].plain[1]);
        fputs("\n\n", out.file);
    }
    return text_close(&out, plot->err);
}
