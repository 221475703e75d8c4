/* self.c: tests of the runner itself: one that fails, crashes or leaks when it is asked to, and
 * one that is always skipped. CMakeLists.txt checks the exit status that each of them leads to. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static int asked_to(const char *what)
{
    const char *how = getenv("LOCKSTEP_UNIT_MUST");
    return how && strcmp(how, what) == 0;
}

Test(self, fails_when_asked)
{
    cr_assert(!asked_to("fail"), "asked to fail");
}

Test(self, crashes_when_asked)
{
    if (asked_to("crash"))
        abort();
    cr_assert(1);
}

Test(skipped, always)
{
    cr_skip_test("there is nothing to test here");
}
