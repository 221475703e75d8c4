/* composition.h: the tables of area COMP, and whether memory can be measured. */
#ifndef CASES_COMPOSITION_H
#define CASES_COMPOSITION_H

#include "check.h"

extern const struct check_table composition_value_table;
extern const struct check_table composition_order_table;
extern const struct check_table composition_repeat_table;

/* A sanitizer keeps memory that was freed, so the memory of the process tells nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_FREED_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEEPS_FREED_MEMORY 1
#endif
#endif
#ifndef KEEPS_FREED_MEMORY
#define KEEPS_FREED_MEMORY 0
#endif

#endif
