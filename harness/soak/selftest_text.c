/* soak/selftest_text.c: the table of faults for people, a row as soon as it is known. */
#include "soak/selftest.h"

#include <inttypes.h>

const char *const selftest_detector_words[SELFTEST_DETECTORS] = {
    [SELFTEST_RESULT] = "result", [SELFTEST_MEAN] = "mean",   [SELFTEST_DEAD] = "error",
    [SELFTEST_LIMIT] = "limit",   [SELFTEST_SPEED] = "speed", [SELFTEST_DROP] = "change"};

bool selftest_wrong(const struct selftest_case *item)
{
    return item->verdict[0] == 'F';
}

void selftest_text_heading(void)
{
    printf("%-22s%-8s%5s ", "fault", "device", "step");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        printf("%8s", selftest_detector_words[d]);
    printf("   device named\n");
}

void selftest_text_case(const struct selftest_case *item)
{
    if (item->fault)
        printf("%-22svirt:%-3d%5u ", item->name, item->device, item->step);
    else
        printf("%-22s%-8s%5s ", item->name, "-", "-");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        if (item->seen.at[d] > 0)
            printf("%8" PRIu64, item->seen.at[d]);
        else
            printf("%8s", ".");
    printf("   %s\n", item->verdict);
    fflush(stdout);
}

void selftest_text_flips(const struct selftest *selftest)
{
    const struct selftest_sums *sums = &selftest->sums;

    if (sums->flips > 0)
        printf("%zu of %zu flips found, with device, iteration and bit\n", sums->flips_right,
               sums->flips);
}

void selftest_text_end(const struct selftest *selftest)
{
    const struct selftest_sums *sums = &selftest->sums;

    if (sums->interrupted)
        printf("interrupted: ");
    printf("%zu kinds of faults found, nothing found in %zu runs without one; %zu wrong\n",
           sums->found, sums->silent, sums->wrong);
}
