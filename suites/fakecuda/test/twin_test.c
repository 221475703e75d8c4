#include "test.h"
const struct test_table twin_tests = {0, 0};
