/* test.h: a plain runner. A test is a function that reports what is not as it should be. */
#ifndef LOCKSTEP_FAKECUDA_TEST_H
#define LOCKSTEP_FAKECUDA_TEST_H

#include "fakecuda.h"

/* Counts a failure and says where. */
void test_check(bool holds, const char *file, int line, const char *what);
#define CHECK(holds) test_check(holds, __FILE__, __LINE__, #holds)

/* So many devices, late and with the check of the order; and starts the fake with that. */
struct fakecuda_config test_config(int devices);
void test_start(int devices);
/* Ends it; the sentence of the first violation must contain the text, or, for NULL, there must be
 * none. What the test has not released is no violation; with test_end_released it is one. */
void test_end(const char *sentence);
void test_end_released(const char *sentence);

struct test {
    const char *name;
    void (*run)(void);
};
struct test_table {
    const struct test *tests;
    int n;
};
extern const struct test_table memory_tests, order_tests, graph_tests, blas_tests, twin_tests,
    state_tests, clock_tests, misuse_tests;

#endif
