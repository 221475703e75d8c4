/* soak/selftest_text.c: the table of faults for people, a row as soon as it is known. */
#include "soak/selftest.h"

#include <inttypes.h>
#include <string.h>

const char *const selftest_detector_words[SELFTEST_DETECTORS] = {
    [SELFTEST_RESULT] = "result", [SELFTEST_MEAN] = "mean",   [SELFTEST_DEAD] = "error",
    [SELFTEST_LIMIT] = "limit",   [SELFTEST_SPEED] = "speed", [SELFTEST_DROP] = "change"};

bool selftest_wrong(const struct selftest_case *item)
{
    return item->verdict[0] == 'F';
}

/* All columns, and the verdict of a case that is right, are 80 wide at most. */
static int width_of(int detector)
{
    return (int)strlen(selftest_detector_words[detector]) + 1;
}

void selftest_text_heading(void)
{
    printf("%-21s%-7s%4s", "fault", "device", "step");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        printf("%*s", width_of(d), selftest_detector_words[d]);
    printf("  named\n");
}

void selftest_text_case(const struct selftest_case *item)
{
    if (item->fault)
        printf("%-21svirt:%-2d%4u", item->name, item->device, item->step);
    else
        printf("%-21s%-7s%4s", item->name, "-", "-");
    for (int d = 0; d < SELFTEST_DETECTORS; ++d)
        if (item->seen.at[d] > 0)
            printf("%*" PRIu64, width_of(d), item->seen.at[d]);
        else
            printf("%*s", width_of(d), ".");
    printf("%s%s\n", selftest_wrong(item) ? "\n  " : "  ", item->verdict);
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
