#include "test.h"
const struct test_table graph_tests = {0, 0};
