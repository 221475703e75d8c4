/* plot/axis.c: ranges, ticks and labels of axes, linear or logarithmic. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>

/* Lengths are measured in these units: octaves, decades, or the quantity itself. */
static double axis_length(const struct plot_axis *axis, double value)
{
    return axis->base > 0.0 ? log(value) / log(axis->base) : value;
}

static double axis_value(const struct plot_axis *axis, double length)
{
    return axis->base > 0.0 ? pow(axis->base, length) : length;
}

struct plot_axis plot_axis_make(double base)
{
    return (struct plot_axis){.base = base, .lo = INFINITY, .hi = -INFINITY};
}

static bool can_be_drawn(const struct plot_axis *axis, double value)
{
    return isfinite(value) && (axis->base <= 0.0 || value > 0.0);
}

void plot_axis_add(struct plot_axis *axis, double value)
{
    if (!can_be_drawn(axis, value))
        return;
    axis->lo = fmin(axis->lo, value);
    axis->hi = fmax(axis->hi, value);
}

bool plot_axis_empty(const struct plot_axis *axis)
{
    return !(axis->lo <= axis->hi);
}

void plot_axis_tick(struct plot_axis *axis, double value)
{
    int i = axis->n;

    for (int j = 0; j < axis->n; ++j)
        if (!(axis->tick[j] < value || axis->tick[j] > value))
            return;
    if (i == PLOT_MAX_TICKS || !can_be_drawn(axis, value))
        return;
    for (; i > 0 && axis->tick[i - 1] > value; --i)
        axis->tick[i] = axis->tick[i - 1];
    axis->tick[i] = value;
    ++axis->n;
}

void plot_axis_pad(struct plot_axis *axis, double below, double above, double least)
{
    double lo = axis_length(axis, axis->lo), hi = axis_length(axis, axis->hi);
    double lack = (axis->base > 0.0 ? axis_length(axis, least) : least) - (hi - lo), length;

    if (lack > 0.0) {
        lo -= lack / 2;
        hi += lack / 2;
    }
    length = hi - lo;
    axis->lo = axis_value(axis, lo - below * length);
    axis->hi = axis_value(axis, hi + above * length);
}

double plot_axis_place(const struct plot_axis *axis, double value)
{
    const double lo = axis_length(axis, axis->lo), hi = axis_length(axis, axis->hi);

    return (axis_length(axis, value) - lo) / (hi - lo);
}

double plot_axis_value(const struct plot_axis *axis, double place)
{
    const double lo = axis_length(axis, axis->lo), hi = axis_length(axis, axis->hi);

    return axis_value(axis, lo + place * (hi - lo));
}

/* 1, 2 and 5 of each decade, or only 1 when there are many decades. */
static void tick_decades(struct plot_axis *axis)
{
    static const double digits[] = {1, 2, 5};
    const double lo = log10(axis->lo), hi = log10(axis->hi);
    const int n = hi - lo > 2.5 ? 1 : 3;
    const int stride = hi - lo > 10.0 ? (int)ceil((hi - lo) / 10.0) : 1;

    for (int decade = (int)floor(lo); decade <= (int)ceil(hi); decade += stride)
        for (int i = 0; i < n; ++i) {
            const double value = digits[i] * pow(10.0, decade);

            if (log10(value) >= lo && log10(value) <= hi)
                plot_axis_tick(axis, value);
        }
}

/* Powers of two; every second, or third, when there are many. */
static void tick_powers(struct plot_axis *axis)
{
    const int lo = (int)ceil(log2(axis->lo)), hi = (int)floor(log2(axis->hi));
    const int stride = (hi - lo) / 8 + 1;

    for (int power = 0; power <= hi; power += stride)
        plot_axis_tick(axis, power >= lo ? exp2(power) : NAN);
    for (int power = -stride; power >= lo; power -= stride)
        plot_axis_tick(axis, power <= hi ? exp2(power) : NAN);
}

/* At most seven, apart by 1, 2 or 5 times a power of ten. */
static void tick_steps(struct plot_axis *axis)
{
    double step = pow(10.0, floor(log10((axis->hi - axis->lo) / 7.0)));
    const double rough = (axis->hi - axis->lo) / (7.0 * step);

    step *= rough <= 1.0 ? 1.0 : rough <= 2.0 ? 2.0 : rough <= 5.0 ? 5.0 : 10.0;
    /* A sum, because there is no tick named -0. */
    for (double i = ceil(axis->lo / step - 1e-9) + 0.0; i * step <= axis->hi + 1e-9 * step;
         i += 1.0)
        plot_axis_tick(axis, i * step);
}

void plot_axis_round(struct plot_axis *axis)
{
    if (plot_axis_empty(axis))
        return;
    if (axis->base <= 0.0)
        tick_steps(axis);
    else if (axis->base < 10.0 && axis->hi / axis->lo < 300.0)
        tick_powers(axis);
    else
        tick_decades(axis);
}

void plot_axis_thin(struct plot_axis *axis, double pixels)
{
    double place[PLOT_MAX_TICKS], half[PLOT_MAX_TICKS]; /* half of the width of a name */
    char name[32];

    for (int i = 0; i < axis->n; ++i) {
        axis->bare[i] = i > 0 && i + 1 < axis->n;
        place[i] = plot_axis_place(axis, axis->tick[i]);
        half[i] = (5.0 * snprintf(name, sizeof name, "%g", axis->tick[i]) + 4.0) / pixels;
    }
    for (int powers = 1; powers >= 0; --powers)
        for (int i = 0; i < axis->n; ++i) {
            const double power = axis->base > 0.0 ? axis_length(axis, axis->tick[i]) : 0.5;
            const bool is_power = fabs(power - round(power)) < 1e-9;
            bool room = true;

            if (!axis->bare[i] || is_power < (powers != 0))
                continue;
            for (int j = 0; j < axis->n && room; ++j)
                room = j == i || axis->bare[j] || fabs(place[i] - place[j]) >= half[i] + half[j];
            axis->bare[i] = !room;
        }
}

static int compare_places(const void *left, const void *right)
{
    const double *const *a = left, *const *b = right;

    const int order = (**a > **b) - (**a < **b);

    return order != 0 ? order : (*a > *b) - (*a < *b);
}

/* Pairs that are too near are pushed apart, again and again, which settles within few rounds. */
void plot_spread(double place[], int n, double step, double lo, double hi)
{
    double *order[PLOT_MAX_LINES];

    n = n < PLOT_MAX_LINES ? n : PLOT_MAX_LINES;
    step = n > 1 ? fmin(step, (hi - lo) / (n - 1)) : step;
    for (int i = 0; i < n; ++i)
        order[i] = &place[i];
    qsort(order, (size_t)n, sizeof order[0], compare_places);
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < n; ++i)
            *order[i] = fmin(fmax(*order[i], lo + i * step), hi - (n - 1 - i) * step);
        for (int i = 1; i < n; ++i) {
            const double lack = step - (*order[i] - *order[i - 1]);

            if (lack > 0.0) {
                *order[i - 1] -= lack / 2;
                *order[i] += lack / 2;
            }
        }
    }
}
