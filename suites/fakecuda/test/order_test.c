#include "test.h"
const struct test_table order_tests = {0, 0};
