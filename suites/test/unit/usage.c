/* usage.c: the load of a launch's cores, from planted files: the numbers, and values that are
 * refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/measure.h"
#include "root.h"

static struct usage_units units_of(const char *list)
{
    struct usage_units units = {.n = 0};

    cr_assert(usage_add_units(list, &units) == 0, "%s", list);
    return units;
}

Test(usage, lists_of_units)
{
    static const char *const bad[] = {"",     "x",  "1,",  "1-",     "-1",
                                      "2-1",  "1 ", "1;2", "0-8192", "99999",
                                      "1,,2", "+1", "0x1", "1--2",   "18446744073709551617"};
    struct usage_units units = units_of("0-3,8,2-5");

    cr_assert(units.n == 7 && units.has[5] && !units.has[6] && units.has[8]);
    cr_assert(units_of("8191").n == 1 && units_of("0").has[0]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
        cr_assert(usage_add_units(bad[i], &units) != 0, "'%s'", bad[i]);
}

Test(usage, allowed_units, .init = root_make, .fini = root_remove)
{
    static const char *const bad[] = {"", "Cpus_allowed_list:\t\n", "Cpus_allowed_list:\t0-\n",
                                      "Cpus_allowed:\t3\nCpus_allowed_lis"};
    struct usage_units units = {.n = 0};

    usage_add_allowed(root, &units);
    cr_assert(units.n == 0, "there is no file");
    root_put("/proc/thread-self/status",
             "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0,2-3\n");
    usage_add_allowed(root, &units);
    cr_assert(units.n == 3 && units.has[0] && units.has[2] && units.has[3]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        units = (struct usage_units){.n = 0};
        root_put("/proc/thread-self/status", bad[i]);
        usage_add_allowed(root, &units);
        cr_assert(units.n == 0, "%zu", i);
    }
}

/* The counters of the kernel for units 0 and 1 at the start: user, nice, system, idle, I/O, two
 * kinds of interrupts, stolen, guests. */
static const char BEGIN[] = "cpu  9 9 9 9 9 9 9 9 9 9\n"
                            "cpu0 1000 10 100 5000 50 5 5 20 0 0\n"
                            "cpu1 2000 20 200 6000 60 6 6 30 0 0\n"
                            "intr 1 2 3\n";

/* Returns the cell after this many seconds on units 0 and 1, in which the process used `own`
 * seconds. */
static struct record_cell after(const char *begin_text, const char *end_text, double seconds,
                                double own)
{
    const struct usage_units units = units_of("0-1");
    struct record_cell cell = {.n_ranks = 0};

    root_put("/proc/stat", begin_text);
    struct usage_reading begin = usage_read(root, &units);
    root_put("/proc/stat", end_text);
    struct usage_reading end = usage_read(root, &units);

    begin.clock_ns = 7000;
    end.clock_ns = begin.clock_ns + (uint64_t)(seconds * 1e9);
    begin.own_s = 5;
    end.own_s = begin.own_s + own;
    usage_note(&begin, &end, &units, &cell);
    return cell;
}

static bool unknown(const struct record_cell *cell)
{
    return isnan(cell->foreign_frac) && isnan(cell->steal_frac);
}

/* Ten seconds of two units have 1200 busy ticks, of which the process used 8 s; 100 ticks were
 * stolen and 700 idle. */
static const char END[] = "cpu  1 1 1 1 1 1 1 1 1 1\n"
                          "cpu0 1500 60 150 5200 100 15 15 120 300 40\n"
                          "cpu1 2500 20 250 6450 60 16 6 30 0 0\n"
                          "cpu2 5 5\n";

Test(usage, shares, .init = root_make, .fini = root_remove)
{
    static const char whole[] = "cpu0 1500 60 150 5200 100 15 15 120 300 40\n"
                                "cpu1 2500 20 250 6450 60 16 6 30 0 0\n"
                                "cpu2 1 1 1 1 1 1 1 1 1 1\n";
    struct record_cell cell = after(BEGIN, whole, 10, 8);

    cr_assert(sysconf(_SC_CLK_TCK) == 100, "the numbers here are of ticks of 10 ms");
    /* 620 + 560 ticks = 11.8 s of 20 s are busy, 8 s of that by the process; 1 s is stolen. */
    cr_assert(fabs(cell.foreign_frac - 3.8 / 20) < 1e-12, "%g", cell.foreign_frac);
    cr_assert(fabs(cell.steal_frac - 1.0 / 20) < 1e-12, "%g", cell.steal_frac);
    cell = after(BEGIN, whole, 10, 0);
    cr_assert(fabs(cell.foreign_frac - 11.8 / 20) < 1e-12, "%g", cell.foreign_frac);
    /* Ticks are coarse: if the process used a little more than was busy, others used nothing. */
    cell = after(BEGIN, whole, 10, 12.5);
    cr_assert(cell.foreign_frac == 0 && cell.steal_frac > 0);
    cr_assert(cell.voluntary_switches >= 0 && cell.involuntary_switches >= 0);
    cr_assert(cell.minor_faults >= 0 && cell.major_faults >= 0);
}

/* In 0.15 s two units have 30 ticks, but those of each kind are rounded by themselves. */
Test(usage, shares_are_never_more_than_all, .init = root_make, .fini = root_remove)
{
    static const char most[] = "cpu0 1014 10 100 5000 50 5 5 24 0 0\n"
                               "cpu1 2014 20 200 6000 60 6 6 34 0 0\n";
    const struct record_cell cell = after(BEGIN, most, 0.15, 0);

    cr_assert(fabs(cell.foreign_frac - 28.0 / 36) < 1e-12, "%g", cell.foreign_frac);
    cr_assert(fabs(cell.steal_frac - 8.0 / 36) < 1e-12, "%g", cell.steal_frac);
}

/* A line that is torn, missing, doubled or absurd gives unknown numbers, and so does one that does
 * not fit the time. */
Test(usage, unknown, .init = root_make, .fini = root_remove)
{
    static const char *const bad[] = {
        END, /* a line is torn, but of another unit */
        "",
        "intr 1\n",
        "cpu0 1500 60 150 5200 100 15 15 120 0 0\n",
        "cpu0 1500 60 150 5200 100 15 15 120\ncpu1 2500 20 250 6450 60 16 6 30",
        "cpu0 1500 60 150 5200 100 15 15 120 0 0\ncpu1 2500 20 250\n",
        "cpu0 1500 60 150 5200 100 15 15 120\ncpu0 1500 60 150 5200 100 15 15 120\n"
        "cpu1 2500 20 250 6450 60 16 6 30\n",
        "cpu0 1500 60 150 5200 100 15 15 -120\ncpu1 2500 20 250 6450 60 16 6 30\n",
        "cpu0 1500 60 150 5200 100 15 15 nan\ncpu1 2500 20 250 6450 60 16 6 30\n",
        "cpu0 1500 60 150 5200 100 15 15 99999999999999999999\ncpu1 2500 20 250 6450 60 16 6 30\n",
        "cpu0x 1500 60 150 5200 100 15 15 120\ncpu1 2500 20 250 6450 60 16 6 30\n",
        /* busy times went back, then a stolen time did */
        "cpu0 100 10 100 7000 50 5 5 20\ncpu1 2000 20 200 7000 60 6 6 30\n",
        "cpu0 1500 10 100 5500 50 5 5 0\ncpu1 2500 20 200 6500 60 6 6 30\n",
        /* the file does not change */
        BEGIN,
        /* the difference is that of a day */
        "cpu0 9999999 10 100 5000 50 5 5 20\ncpu1 2000 20 200 6000 60 6 6 30\n",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        const struct record_cell cell = after(BEGIN, bad[i], 10, 1);

        cr_assert(unknown(&cell), "%zu: %g %g", i, cell.foreign_frac, cell.steal_frac);
    }
    static const char good[] = "cpu0 1500 10 100 5500 50 5 5 20\ncpu1 2500 20 200 6500 60 6 6 30\n";
    struct record_cell cell = after(BEGIN, good, 10, 1);

    cr_assert(!unknown(&cell));
    cell = after(good, BEGIN, 10, 1);
    cr_assert(unknown(&cell), "time went back");
    cell = after(BEGIN, good, 5, 1);
    cr_assert(unknown(&cell), "twice the time that passed");
    cell = after(BEGIN, good, 0.09, 0);
    cr_assert(unknown(&cell), "fewer than 10 ticks");
    cell = after(BEGIN, good, 10, 13);
    cr_assert(unknown(&cell), "the process had more than all had");
    cell = after(BEGIN, good, 10, (double)NAN);
    cr_assert(unknown(&cell), "what it had is not known");
    root_remove();
    const struct usage_units units = units_of("0");
    const struct usage_reading none = usage_read(root, &units);

    cr_assert(isnan(none.busy_s) && isnan(none.steal_s) && !isnan(none.own_s));
    cr_assert(mkdir(root, 0777) == 0);
}

Test(usage, frequency, .init = root_make, .fini = root_remove)
{
    static const char name[] = "/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq";
    static const char *const bad[] = {"",    "\n",          "3000000",      "0\n",         "-5\n",
                                      "x\n", "<unknown>\n", "4294967297\n", "2000000000\n"};
    const struct usage_units units = units_of("0-1"), none = {.n = 0};

    root_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
    cr_assert(isnan(usage_hz(root, &units)), "unit 1 has none");
    root_put(name, "3000000\n");
    cr_assert(usage_hz(root, &units) == 2.5e9 && isnan(usage_hz(root, &none)));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        root_put(name, bad[i]);
        cr_assert(isnan(usage_hz(root, &units)), "'%s'", bad[i]);
    }
}
