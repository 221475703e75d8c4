/* watch.c: a clock is compared with a timer: a clock that is too slow or too fast is seen, an
 * interruption is ignored. */
#include <criterion/criterion.h>
#include <stdbool.h>

#include "launch/watch.h"
#include "record/record.h"

/* Whether the clock holds, from a start at 1 s by the timer and 7 s by the clock. */
static bool holds(uint64_t before_ns, uint64_t clock_ns, uint64_t after_ns)
{
    const struct watch_reading begin = {1000000000, 7000000000, 1000000100};
    const struct watch_reading end = {1000000000 + before_ns, 7000000000 + clock_ns,
                                      1000000000 + after_ns};

    return record_clock_holds(watch_ratio(&begin, &end));
}

Test(watch, clock_and_timer)
{
    const uint64_t ms = 1000000;

    cr_assert(holds(ms, ms, ms + 100));
    cr_assert(holds(ms, ms + 90000, ms + 100), "a reading is that much off");
    cr_assert(holds(ms, ms - 90000, ms + 100));
    cr_assert(!holds(ms, 1000, ms + 100), "a thousand times too slow");
    cr_assert(!holds(ms, 0, ms + 100), "it stands still");
    /* Some corrections of a clock are allowed, larger ones are not. */
    cr_assert(holds(1000 * ms, 999500000, 1000 * ms + 100));
    cr_assert(holds(1000 * ms, 1000500000, 1000 * ms + 100));
    cr_assert(!holds(1000 * ms, 994000000, 1000 * ms + 100));
    cr_assert(!holds(1000 * ms, 1006000000, 1000 * ms + 100));
    cr_assert(!holds(100 * ms, 95 * ms, 100 * ms + 100), "5 %% too slow");
    /* The reading was interrupted for a second before the clock was read, or after. */
    cr_assert(holds(ms, 1001 * ms, 1001 * ms + 100));
    cr_assert(holds(ms, ms, 1001 * ms + 100));
}

Test(watch, this_machine)
{
    struct watch watch;

    watch_start(&watch);
    cr_assert(watch.timer >= 0);
    const struct watch_reading end = watch_read(&watch);
    cr_assert(record_clock_holds(watch_ratio(&watch.begin, &end)));
    watch_close(&watch);
}
