/* plot/bars.c: places a panel of bars: one of two in a row, with a key at the right. */
#include "plot/plot.h"

#include <math.h>

enum { PANEL_WIDTH = 400, PANEL_STRIDE = 490 };
enum { TWO_LINES = 76 }; /* pixels from the bars to what stands below names of two lines */

void plot_bars_write(struct plot *plot, const struct plot_bars *bars, struct plot_frame *frame)
{
    frame->left = bars->first ? 84 : 84 + PANEL_STRIDE;
    frame->right = frame->left + PANEL_WIDTH;
    frame->below = bars->two_lines ? TWO_LINES : 0;
    frame->at = bars->first ? 20 : frame->left - 64;
    frame->title = plot->height + 24;
    frame->note = plot->height + 48;
    frame->top = plot->height + 66;
    frame->bottom = plot->height + bars->row - 70;
    frame->x = plot_axis_make(0.0);
    frame->x.lo = 0.4;
    frame->x.hi = fmax((double)bars->n, 4.0) + 0.6;
    frame->y = plot_axis_make(0.0);
    frame->y.lo = 0.0;
    frame->y.hi = 1.1 * bars->highest / bars->unit;
    plot_axis_round(&frame->y);
    plot_frame_write(plot, frame);
    plot_number(plot, "key", bars->first);
    plot_number(plot, "keyleft", bars->key);
    plot_number(plot, "keytop", plot->height + 84);
}

double plot_bars_height(double row, bool two_lines)
{
    return row + (two_lines ? TWO_LINES - 60 : 0);
}
