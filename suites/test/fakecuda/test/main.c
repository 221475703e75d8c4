/* main.c: runs the tests of the fake, all or those whose name contains the argument. */
#include "test.h"

#include <stdio.h>
#include <string.h>

static int failures;

void test_check(bool holds, const char *file, int line, const char *what)
{
    if (holds)
        return;
    ++failures;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
}

struct fakecuda_config test_config(int devices)
{
    struct fakecuda_config config = fakecuda_defaults();
    config.devices = devices;
    config.quiet = true;
    config.memory_bytes = (size_t)4 << 20;
    return config;
}

void test_start(int devices)
{
    const struct fakecuda_config config = test_config(devices);
    fakecuda_start(&config);
}

static void check_end(int violations, const char *sentence)
{
    const char *first = fakecuda_first();
    const bool right = sentence ? violations > 0 && strstr(first, sentence) : violations == 0;
    if (!right)
        fprintf(stderr, "violations: %d, the first: '%s', but expected: '%s'\n", violations, first,
                sentence ? sentence : "");
    CHECK(right);
}

void test_end(const char *sentence)
{
    check_end(fakecuda_finish_unreleased(), sentence);
}

void test_end_released(const char *sentence)
{
    check_end(fakecuda_finish(), sentence);
}

int main(int argc, char **argv)
{
    static const struct test_table *const tables[] = {&memory_tests, &order_tests, &graph_tests,
                                                      &blas_tests,   &twin_tests,  &state_tests,
                                                      &clock_tests,  &misuse_tests};
    const char *only = argc > 1 ? argv[1] : "";
    int run = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t) {
        for (int i = 0; i < tables[t]->n; ++i) {
            const struct test *test = &tables[t]->tests[i];
            const int before = failures;
            if (!strstr(test->name, only))
                continue;
            test->run();
            ++run;
            printf("%s %s\n", failures == before ? "ok    " : "FAILED", test->name);
            fflush(stdout);
        }
    }
    printf("%d tests, %d failures\n", run, failures);
    return run == 0 ? 2 : failures > 0;
}
