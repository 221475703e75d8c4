#include "test.h"
const struct test_table blas_tests = {0, 0};
