/* watch.c: a clock against a timer: too slow and too fast are seen, an interruption is not. */
#include <criterion/criterion.h>
#include <string.h>

#include "measure/watch.h"

/* Of a start at 1 s by the timer and 7 s by the clock. */
static int compare(uint64_t before_ns, uint64_t clock_ns, uint64_t after_ns)
{
    const struct watch_reading begin = {1000000000, 7000000000, 1000000100};
    const struct watch_reading end = {1000000000 + before_ns, 7000000000 + clock_ns,
                                      1000000000 + after_ns};
    char why[160] = "";
    const int status = watch_compare(&begin, &end, why, sizeof why);

    cr_assert((status != 0) == (strstr(why, "the clock cannot be believed") != NULL), "%s", why);
    return status;
}

Test(watch, clock_and_timer)
{
    cr_assert(compare(1000000, 1000000, 1000100) == 0);
    cr_assert(compare(1000000, 1090000, 1000100) == 0);
    cr_assert(compare(1000000, 920000, 1000100) == 0);
    cr_assert(compare(1000000, 1000, 1000100) != 0, "a thousand times too slow");
    cr_assert(compare(1000000, 900000, 1000100) != 0);
    cr_assert(compare(1000000, 1110000, 1000100) != 0);
    cr_assert(compare(1000000, 0, 1000100) != 0, "it stands still");
    /* Interrupted for a second before the clock was read, or after. */
    cr_assert(compare(1000000, 1001000000, 1001000100) == 0);
    cr_assert(compare(1000000, 1000000, 1001000100) == 0);
}

Test(watch, this_machine)
{
    struct watch watch;
    char why[160] = "";

    watch_start(&watch);
    cr_assert(watch.timer >= 0);
    cr_assert(watch_stop(&watch, why, sizeof why) == 0, "%s", why);
}
