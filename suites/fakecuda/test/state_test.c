#include "test.h"
const struct test_table state_tests = {0, 0};
