#include "test.h"
const struct test_table memory_tests = {0, 0};
