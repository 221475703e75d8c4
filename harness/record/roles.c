/* record/roles.c: walks over the tables of fields. They find what differs, in which order, and
 * print values. */
#include "record/record.h"

#include "plan/plan.h"

#include "numbers/stats.h"
#include "text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Finds the next option that tells runs apart, and returns its length with its value; 0 at the end.
 * Of some options other fields of the record say what they do, or they only say how many steps and
 * launches there are, and in which order. Runs that differ in any other one were not run alike. */
static size_t next_option(const char **text)
{
    for (;;) {
        const char *next = strstr(*text, " --");
        const size_t length = next ? (size_t)(next - *text) : strlen(*text);
        const size_t word = strcspn(*text, " "), name = word < length ? word : length;
        bool apart = true;

        for (size_t i = 0; name > 2 && i < PLAN_OPTIONS; ++i)
            if (strlen(plan_option_table[i].name) == name - 2 &&
                memcmp(plan_option_table[i].name, *text + 2, name - 2) == 0) {
                apart = plan_option_table[i].apart;
                break;
            }
        if (length == 0 || apart)
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

static int order_of_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int record_field_order(const struct record_field *field, unsigned roles, const void *a,
                       const void *b)
{
    const void *x = (const char *)a + field->offset, *y = (const char *)b + field->offset;
    const struct record_series *series = x, *other = y;
    int order;

    if ((field->role & roles) == 0)
        return 0;
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
        return stats_order(*(const double *)x, *(const double *)y);
    case RECORD_SERIES:
        order = order_of_u64(series->n, other->n);
        for (size_t i = 0; i < series->n && order == 0; ++i)
            order = stats_order(series->value[i], other->value[i]);
        return order;
    case RECORD_NESTED:
        break;
    }
    return 0;
}

const struct record_field *record_differs(const struct record_field *fields, unsigned roles,
                                          const void *a, const void *b)
{
    while (fields->name && record_field_order(fields, roles, a, b) == 0)
        ++fields;
    return fields->name ? fields : NULL;
}

/* The first field that differs in two lists of n objects; *at is the index of the object. */
static const struct record_field *list_differs(const struct record_field *fields, const void *a,
                                               const void *b, size_t bytes, int n, int *at)
{
    const struct record_field *field = NULL;

    for (int i = 0; i < n && !field; ++i) {
        const size_t offset = (size_t)i * bytes;

        *at = i;
        field = record_differs(fields, RECORD_APART, (const char *)a + offset,
                               (const char *)b + offset);
    }
    return field;
}

const struct record_field *record_slots_differ(const struct record_run *a,
                                               const struct record_run *b, int n, int *slot)
{
    return list_differs(record_slot_fields, a->slot, b->slot, sizeof a->slot[0], n, slot);
}

const struct record_field *record_gpus_differ(const struct record_run *a,
                                              const struct record_run *b, int *gpu)
{
    const struct record_node *x = &a->node, *y = &b->node;
    const int n = x->n_gpus < y->n_gpus ? x->n_gpus : y->n_gpus;
    const struct record_field *field =
        list_differs(record_gpu_fields, x->gpu, y->gpu, sizeof x->gpu[0], n, gpu);

    if (field || n == 0 || x->n_gpus == y->n_gpus)
        return field;
    *gpu = n;
    return record_find(record_gpu_fields, "bus");
}

int record_order(const struct record_field *fields, unsigned roles, const void *a, const void *b)
{
    const struct record_field *differs = record_differs(fields, roles, a, b);

    return differs ? record_field_order(differs, roles, a, b) : 0;
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
