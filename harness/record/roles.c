/* record/roles.c: walks over the tables of fields. They find what differs, in which order, and
 * print values. */
#include "record/record.h"

#include "plan/plan.h"

#include "text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *record_role_name(enum record_role role)
{
    static const char *const names[] = {"identity", "build",     "system", "machine",
                                        "host",     "condition", "result"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if ((unsigned)role == 1u << i)
            return names[i];
    return "unknown";
}

/* Whether other fields of the record say what the option does, or it only says how many steps and
 * launches there are, and in which order. If runs differ in any other option, they were not run
 * alike. */
static bool is_said_elsewhere(const char *option, size_t length)
{
    const size_t name = strcspn(option, " ") < length ? strcspn(option, " ") : length;

    for (size_t i = 0; i < PLAN_OPTIONS; ++i) {
        const struct plan_option *row = &plan_option_table[i];

        if (name > 2 && strlen(row->name) == name - 2 &&
            memcmp(row->name, option + 2, name - 2) == 0)
            return !row->apart;
    }
    return false;
}

/* Finds the next option that tells runs apart, and returns its length with its value; 0 at the end.
 */
static size_t next_option(const char **text)
{
    for (;;) {
        const char *next = strstr(*text, " --");
        const size_t length = next ? (size_t)(next - *text) : strlen(*text);

        if (length == 0 || !is_said_elsewhere(*text, length))
            return length;
        *text += length + (next != NULL);
    }
}

static int order_of_options(const char *a, const char *b)
{
    for (;;) {
        const size_t n = next_option(&a), m = next_option(&b);
        const int order = memcmp(a, b, n < m ? n : m);

        if (n == 0 || n != m || order != 0)
            return order != 0 ? order : (n > m) - (n < m);
        a += n + (a[n] == ' ');
        b += m + (b[m] == ' ');
    }
}

static int order_of_reals(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

static int order_of_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int order_of_series(const struct record_series *a, const struct record_series *b)
{
    int order = order_of_u64(a->n, b->n);

    for (size_t i = 0; i < a->n && order == 0; ++i)
        order = order_of_reals(a->value[i], b->value[i]);
    return order;
}

static int field_order(const struct record_field *field, const void *a, const void *b)
{
    const void *x = (const char *)a + field->offset, *y = (const char *)b + field->offset;

    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
        return strcmp(x, y);
    case RECORD_OPTIONS:
        return order_of_options(x, y);
    case RECORD_BOOL:
        return *(const bool *)x - *(const bool *)y;
    case RECORD_INT:
        return (*(const int *)x > *(const int *)y) - (*(const int *)x < *(const int *)y);
    case RECORD_LONG:
        return (*(const long *)x > *(const long *)y) - (*(const long *)x < *(const long *)y);
    case RECORD_COUNT:
        return order_of_u64(*(const size_t *)x, *(const size_t *)y);
    case RECORD_U64:
    case RECORD_BIG:
        return order_of_u64(*(const uint64_t *)x, *(const uint64_t *)y);
    case RECORD_REAL:
        return order_of_reals(*(const double *)x, *(const double *)y);
    case RECORD_SERIES:
        return order_of_series(x, y);
    case RECORD_NESTED:
        break;
    }
    return 0;
}

int record_field_order(const struct record_field *field, unsigned roles, const void *a,
                       const void *b)
{
    return (field->role & roles) != 0 ? field_order(field, a, b) : 0;
}

/* Returns the first field that differs, NULL: none; *order says how. */
static const struct record_field *walk(const struct record_field *field, unsigned roles,
                                       const void *a, const void *b, int *order)
{
    *order = 0;
    for (; field->name; ++field) {
        *order = record_field_order(field, roles, a, b);
        if (*order != 0)
            return field;
    }
    return NULL;
}

const struct record_field *record_differs(const struct record_field *fields, unsigned roles,
                                          const void *a, const void *b)
{
    int order;

    return walk(fields, roles, a, b, &order);
}

const struct record_field *record_slots_differ(const struct record_run *a,
                                               const struct record_run *b, int n, int *slot)
{
    const struct record_field *field = NULL;

    for (int i = 0; i < n && !field; ++i) {
        *slot = i;
        field = record_differs(record_slot_fields, RECORD_APART, &a->slot[i], &b->slot[i]);
    }
    return field;
}

const struct record_field *record_gpus_differ(const struct record_run *a,
                                              const struct record_run *b, int *gpu)
{
    const int n = a->node.n_gpus < b->node.n_gpus ? a->node.n_gpus : b->node.n_gpus;
    const struct record_field *field = NULL;

    for (int i = 0; i < n && !field; ++i) {
        *gpu = i;
        field = record_differs(record_gpu_fields, RECORD_APART, &a->node.gpu[i], &b->node.gpu[i]);
    }
    if (field || n == 0 || a->node.n_gpus == b->node.n_gpus)
        return field;
    *gpu = n;
    return record_find(record_gpu_fields, "bus");
}

int record_order(const struct record_field *fields, unsigned roles, const void *a, const void *b)
{
    int order;

    walk(fields, roles, a, b, &order);
    return order;
}

const struct record_field *record_find(const struct record_field *fields, const char *name)
{
    for (; fields->name; ++fields)
        if (strcmp(fields->name, name) == 0)
            return fields;
    return NULL;
}

void record_show(const struct record_field *field, const void *object, char *text, size_t bytes)
{
    const void *member = (const char *)object + field->offset;

    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
    case RECORD_OPTIONS:
        snprintf(text, bytes, "%s", (const char *)member);
        break;
    case RECORD_BOOL:
        snprintf(text, bytes, "%s", *(const bool *)member ? "true" : "false");
        break;
    case RECORD_INT:
        snprintf(text, bytes, "%d", *(const int *)member);
        break;
    case RECORD_LONG:
        snprintf(text, bytes, "%ld", *(const long *)member);
        break;
    case RECORD_COUNT:
        snprintf(text, bytes, "%zu", *(const size_t *)member);
        break;
    case RECORD_U64:
    case RECORD_BIG:
        snprintf(text, bytes, "%" PRIu64, *(const uint64_t *)member);
        break;
    case RECORD_REAL:
        snprintf(text, bytes, "%.17g", *(const double *)member);
        break;
    case RECORD_SERIES:
        snprintf(text, bytes, "%zu numbers", ((const struct record_series *)member)->n);
        break;
    case RECORD_NESTED:
        snprintf(text, bytes, "-");
        break;
    }
}

void record_unknown(const struct record_field *fields, void *object)
{
    for (; fields->name; ++fields)
        if (fields->later && fields->kind == RECORD_REAL)
            *(double *)((char *)object + fields->offset) = (double)NAN;
}

void record_clean(const struct record_field *field, void *object)
{
    for (; field->name; ++field) {
        char *member = (char *)object + field->offset;
        const bool list = field->nest == RECORD_LIST || field->nest == RECORD_HEAP_LIST;
        const int n = list ? *(int *)(void *)((char *)object + field->count) : 1;

        if (field->kind == RECORD_TEXT || field->kind == RECORD_HASH ||
            field->kind == RECORD_OPTIONS)
            text_clean(member, ' ');
        if (field->nest == RECORD_HEAP_LIST) {
            void *heap;

            memcpy(&heap, member, sizeof heap);
            member = heap;
        }
        for (int i = 0; field->element && i < n; ++i)
            record_clean(field->element, member + (size_t)i * field->bytes);
    }
}
