/* soak.c: tests of the pure parts of a soak: the comparison, the mean, and the rule of rates, by
 * simulation with a fixed seed. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "noise.h"
#include "soak/soak.h"

enum { RUNS = 200, ITERATIONS = 960, DEVICES = 4 };

/* Makes steps of 5 ms that now and then take longer, for all devices or for one. From `since` on
 * one of them takes `times` as long. */
static void simulate(struct soak_rates *rates, int device, double times, uint64_t since,
                     uint64_t *seed)
{
    *rates = (struct soak_rates){.devices = DEVICES};
    for (uint64_t i = 1; i <= ITERATIONS; ++i) {
        const double all = 1 + 0.3 * pow(noise_uniform(seed), 8);
        double busy[DP_MAX_SLOTS];

        for (int d = 0; d < DEVICES; ++d) {
            busy[d] = 5e6 * all * (1 + 0.02 * noise_uniform(seed));
            busy[d] *= noise_uniform(seed) < 0.1 ? 3 : 1;
            busy[d] *= d == device && i >= since ? times : 1;
        }
        soak_rates_add(rates, i, (double)i / 50, busy);
    }
}

/* Returns in how many of RUNS runs a device got the verdict; *others: in how many another device
 * got any. */
static int runs_with(enum soak_speed speed, double times, uint64_t since, int *others)
{
    uint64_t seed = 20261123;
    int found = 0;

    *others = 0;
    for (int run = 0; run < RUNS; ++run) {
        struct soak_rates rates;
        struct soak_rate rate[DP_MAX_SLOTS];
        int other = 0;

        simulate(&rates, 2, times, since, &seed);
        soak_rates_judge(&rates, 0.05, rate);
        found += rate[2].speed == speed;
        if (rate[2].speed == SOAK_DROPPED_CLOCK)
            cr_assert(rate[2].since + 40 >= since && rate[2].since <= since + 40,
                      "since %d, not %d", (int)rate[2].since, (int)since);
        for (int d = 0; d < DEVICES; ++d)
            other += d != 2 && rate[d].speed != SOAK_EVEN;
        *others += other > 0;
    }
    return found;
}

Test(soak, speed)
{
    int others;

    cr_assert_eq(runs_with(SOAK_EVEN, 1, 1, &others), RUNS);
    cr_assert_eq(others, 0);
    cr_assert_eq(runs_with(SOAK_SLOW, 1.1, 1, &others), RUNS);
    cr_assert_eq(others, 0);
    /* A device within the spread is even. */
    cr_assert_eq(runs_with(SOAK_EVEN, 1.03, 1, &others), RUNS);
    /* At the spread itself something is shown only by chance: in 5 % of all devices together. */
    const int shown = runs_with(SOAK_SLOW, 1.05, 1, &others);
    cr_assert(shown <= RUNS / 10, "%d of %d", shown, RUNS);
}

Test(soak, clock)
{
    int others;

    cr_assert_eq(runs_with(SOAK_DROPPED_CLOCK, 1.15, 600, &others), RUNS);
    cr_assert_eq(others, 0);
}

/* Too few blocks, one device, and steps that are too short say nothing. */
Test(soak, unjudged)
{
    static const struct {
        int devices;
        uint64_t iterations;
        double ns;
        enum soak_speed want;
    } runs[] = {{2, 200, 2e6, SOAK_SLOW},
                {2, 90, 2e6, SOAK_UNJUDGED},
                {1, 200, 2e6, SOAK_UNJUDGED},
                {2, 200, 2e5, SOAK_UNJUDGED}};

    for (size_t k = 0; k < sizeof runs / sizeof runs[0]; ++k) {
        struct soak_rates rates = {.devices = runs[k].devices};
        struct soak_rate rate[DP_MAX_SLOTS];

        for (uint64_t i = 1; i <= runs[k].iterations; ++i)
            soak_rates_add(&rates, i, 1, (double[]){2 * runs[k].ns, runs[k].ns});
        soak_rates_judge(&rates, 0.05, rate);
        cr_assert_eq(rate[0].speed, runs[k].want, "row %d", (int)k);
    }
}

/* The last numbers are kept, however many there are. */
Test(soak, blocks)
{
    struct soak_rates rates = {.devices = 1};
    size_t n = 0;

    for (uint64_t i = 1; i <= 100000; ++i)
        soak_rates_add(&rates, i, i <= 1000 ? 1 : 11, (double[]){(double)i});
    for (size_t b = 0; b < rates.n; ++b) {
        cr_assert_eq(rates.block[b].first, n + 2);
        cr_assert_eq(rates.block[b].floor[0], (double)(n + 2));
        n += rates.block[b].n;
    }
    cr_assert_eq(n, 99999);
    cr_assert_eq(rates.burst_n, 999);
    cr_assert_eq(rates.rest_n, 99000);
}

static void flip(float *value, uint32_t mask)
{
    uint32_t bits;

    memcpy(&bits, value, sizeof bits);
    bits ^= mask;
    memcpy(value, &bits, sizeof bits);
}

/* Each bit of each place, the sign of a zero, and NaN make a difference. */
Test(soak, differ)
{
    enum { N = 19 };
    float want[N], got[N];

    for (size_t i = 0; i < N; ++i) {
        want[i] = (float)i - 5;
        got[i] = 4 * want[i];
    }
    cr_assert_not(soak_differ(got, want, 4, N, &(struct soak_finding){.of = 0}));
    for (size_t i = 0; i < N; ++i)
        for (int bit = 0; bit < 32; ++bit) {
            struct soak_finding finding = {.of = 0};

            flip(&got[i], (uint32_t)1 << bit);
            cr_assert(soak_differ(got, want, 4, N, &finding), "place %d, bit %d", (int)i, bit);
            cr_assert(finding.index == i && finding.differ == 1 && finding.of == N);
            cr_assert_eq(finding.got ^ finding.want, (uint32_t)1 << bit);
            flip(&got[i], (uint32_t)1 << bit);
        }
    got[3] = (float)NAN;
    got[4] = (float)INFINITY;

    struct soak_finding finding = {.of = 0};

    cr_assert(soak_differ(got, want, 4, N, &finding));
    cr_assert(finding.index == 3 && finding.differ == 2);
}

/* Each wrong part gives a different mean: no two of eight ranks are confused, in even iterations
 * and odd ones. */
Test(soak, mean)
{
    for (int ranks = 2; ranks <= 8; ++ranks)
        for (uint64_t iteration = 4; iteration <= 5; ++iteration) {
            float seen[1 + 8 * SOAK_PARTS];
            int n = 0;

            seen[n++] = soak_mean(3, ranks, 1.0f / (float)ranks, iteration, -1, SOAK_RIGHT);
            for (int who = 0; who < ranks; ++who)
                for (enum soak_part part = SOAK_DROPPED; part < SOAK_PARTS; ++part)
                    seen[n++] = soak_mean(3, ranks, 1.0f / (float)ranks, iteration, who, part);
            for (int a = 0; a < n; ++a)
                for (int b = 0; b < a; ++b)
                    cr_assert_neq(seen[a], seen[b], "%d ranks, %d and %d", ranks, a, b);
        }
    /* The mean is (1 + 2) / 2, and four times that. */
    cr_assert_eq(soak_mean(3, 2, 0.5f, 0, -1, SOAK_RIGHT), 4.5f);
    cr_assert_eq(soak_mean(3, 2, 0.5f, 7, -1, SOAK_RIGHT), 18.0f);
    cr_assert_eq(soak_mean(3, 2, 1, 7, -1, SOAK_RIGHT), 36.0f);
    cr_assert_eq(soak_mean(3, 2, 0.5f, 0, 1, SOAK_DROPPED), 1.5f);
    cr_assert_eq(soak_mean(3, 2, 0.5f, 1, 0, SOAK_STALE), 12.0f + 1.5f);
}

/* An iteration is computed again after the one before it; devices that count their steps begin with
 * the count that they began with. */
Test(soak, replay_is_a_command)
{
    struct soak_options options = {.devices = "virt:2",
                                   .workload = {.name = "mlp:24,16,8"},
                                   .mode = SOAK_OVERLAP,
                                   .rows = 40,
                                   .seed = 7,
                                   .limit = 2.5,
                                   .first = 1};
    char text[SOAK_REPLAY];

    soak_replay(&options, 9, text);
    cr_assert_str_eq(text, "lockstep soak --devices virt:2 --mode overlap --workload mlp:24,16,8 "
                           "--batch 40 --seed 7 --timeout 2.5 --first 8 --iterations 2");
    soak_replay(&options, 1, text);
    cr_assert(strstr(text, "--first 1 --iterations 1"), "%s", text);
    strcpy(options.backend, "cpu-ref");
    strcpy(options.communicator, "staged");
    options.first = 4;
    soak_replay(&options, 4, text);
    cr_assert(strstr(text, "virt:2 --backend cpu-ref --communicator staged --mode"), "%s", text);
    cr_assert(strstr(text, "--first 3 --iterations 2"), "%s", text);
    strcpy(options.devices, "virt:2+fault:row@9/0");
    soak_replay(&options, 9, text);
    cr_assert(strstr(text, "--first 4 --iterations 6"), "%s", text);
}
