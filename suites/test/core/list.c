/* list.c: gathers the tables of all areas. */
#include "list.h"

#define AREA(name) &name##_cases,
static const struct case_table *const tables[] = {
#include "area_list.h"
};
#undef AREA

const struct test_case *case_at(size_t i)
{
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
        if (i < tables[t]->n)
            return &tables[t]->cases[i];
        i -= tables[t]->n;
    }
    return NULL;
}

size_t case_count(void)
{
    size_t n = 0;
    while (case_at(n))
        ++n;
    return n;
}
