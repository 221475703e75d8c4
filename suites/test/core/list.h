/* list.h: all cases, area by area. An area is one file with one table at its end. */
#ifndef CASES_LIST_H
#define CASES_LIST_H

#include "context.h"

struct case_table {
    const struct test_case *cases;
    size_t n;
};

#define AREA(name) extern const struct case_table name##_cases;
#include "area_list.h"
#undef AREA

size_t case_count(void);
const struct test_case *case_at(size_t i); /* NULL past the end */

#endif
