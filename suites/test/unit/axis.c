/* axis.c: ranges, ticks and labels of the figures' axes. */
#include "plot/plot.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct plot_axis axis_of(double base, double lo, double hi)
{
    struct plot_axis axis = plot_axis_make(base);
    plot_axis_add(&axis, lo);
    plot_axis_add(&axis, hi);
    return axis;
}

static void expect_ticks(const struct plot_axis *axis, int n, const double want[])
{
    cr_assert(axis->n == n, "%d ticks, not %d", axis->n, n);
    for (int i = 0; i < n; ++i)
        cr_assert(fabs(axis->tick[i] - want[i]) <= 1e-12 * fabs(want[i]), "%g, not %g",
                  axis->tick[i], want[i]);
}

Test(axis, what_cannot_be_drawn_is_passed_over)
{
    struct plot_axis axis = plot_axis_make(10.0);
    cr_assert(plot_axis_empty(&axis));
    plot_axis_add(&axis, NAN);
    plot_axis_add(&axis, INFINITY);
    plot_axis_add(&axis, 0.0);
    plot_axis_add(&axis, -1.0);
    plot_axis_tick(&axis, NAN);
    cr_assert(plot_axis_empty(&axis) && axis.n == 0);
    plot_axis_add(&axis, 3.0);
    cr_assert(!plot_axis_empty(&axis) && axis.lo == 3.0 && axis.hi == 3.0);
    plot_axis_pad(&axis, 0.0, 0.0, 4.0);
    cr_assert(fabs(axis.hi / axis.lo - 4.0) < 1e-12, "%g..%g", axis.lo, axis.hi);
}

Test(axis, ticks_are_ordered_and_once)
{
    struct plot_axis axis = axis_of(2.0, 1, 8);
    static const double given[] = {8, 1, 3, 8, 2, 1}, want[] = {1, 2, 3, 8};
    for (int i = 0; i < 6; ++i)
        plot_axis_tick(&axis, given[i]);
    expect_ticks(&axis, 4, want);
    for (int i = 0; i < 2 * PLOT_MAX_TICKS; ++i)
        plot_axis_tick(&axis, 100.0 + i);
    cr_assert(axis.n == PLOT_MAX_TICKS);
}

Test(axis, round_ticks)
{
    struct plot_axis axis = axis_of(0.0, 0.0, 1.1);
    static const double fifths[] = {0, 0.2, 0.4, 0.6, 0.8, 1}, powers[] = {0.25, 0.5, 1, 2, 4, 8};
    static const double digits[] = {0.5, 1, 2, 5, 10, 20, 50};
    plot_axis_round(&axis);
    expect_ticks(&axis, 6, fifths);
    axis = axis_of(2.0, 0.2, 8.0);
    plot_axis_round(&axis);
    expect_ticks(&axis, 6, powers);
    axis = axis_of(10.0, 0.4, 60.0);
    plot_axis_round(&axis);
    expect_ticks(&axis, 7, digits);
    axis = axis_of(10.0, 1e-9, 1e15);
    plot_axis_round(&axis);
    cr_assert(axis.n >= 4 && axis.n <= 12, "%d ticks", axis.n);
}

Test(axis, places_and_values_are_inverse)
{
    static const double bases[] = {0.0, 2.0, 10.0};
    for (int b = 0; b < 3; ++b) {
        const struct plot_axis axis = axis_of(bases[b], 2.0, 32.0);
        cr_assert(plot_axis_place(&axis, 2.0) == 0.0 && plot_axis_place(&axis, 32.0) == 1.0);
        for (double place = -0.25; place <= 1.3; place += 0.125)
            cr_assert(fabs(plot_axis_place(&axis, plot_axis_value(&axis, place)) - place) < 1e-12 ||
                          (bases[b] > 0.0 && plot_axis_value(&axis, place) <= 0.0),
                      "base %g place %g", bases[b], place);
    }
}

/* If ticks are crowded, the ends and the powers keep their names; with enough space all do. */
Test(axis, names_do_not_overlap)
{
    struct plot_axis axis = axis_of(2.0, 1, 64);
    static const int counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 64};
    for (int i = 0; i < 9; ++i)
        plot_axis_tick(&axis, counts[i]);
    plot_axis_thin(&axis, 250.0);
    for (int i = 0; i < 9; ++i) {
        const bool named =
            counts[i] == 1 || counts[i] == 2 || counts[i] == 4 || counts[i] == 8 || counts[i] == 64;
        cr_assert(named == !axis.bare[i] || counts[i] == 3, "%d", counts[i]);
    }
    plot_axis_thin(&axis, 5000.0);
    for (int i = 0; i < 9; ++i)
        cr_assert(!axis.bare[i], "%d", counts[i]);
}

Test(axis, labels_are_spread)
{
    double place[] = {0.5, 0.9, 0.51, 0.5, 0.1};
    double crowd[] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    plot_spread(place, 5, 0.1, 0.05, 0.95);
    /* The order stays; a label that had enough space stays in its place. */
    cr_assert(place[0] <= place[3] - 0.099 && place[3] <= place[2] - 0.099);
    cr_assert(place[1] == 0.9 && place[4] == 0.1, "%g %g", place[1], place[4]);
    plot_spread(crowd, 7, 0.5, 0.0, 1.0);
    for (int i = 0; i < 7; ++i)
        cr_assert(fabs(crowd[i] - i / 6.0) < 1e-6, "label %d at %g", i, crowd[i]);
}

Test(axis, text_is_cut_between_characters)
{
    char text[PLOT_TEXT] = "short", wide[PLOT_TEXT] = "";
    plot_fit(text, 100.0, 17.0);
    cr_assert_str_eq(text, "short");
    for (int i = 0; i < 100; ++i)
        strcat(wide, "\u6f22");
    plot_fit(wide, 300.0, 15.0);
    const size_t length = strlen(wide);
    cr_assert(length >= 6 && length <= 60 && length % 3 == 0, "%zu bytes", length);
    cr_assert_str_eq(wide + length - 3, "\u2026");
}
