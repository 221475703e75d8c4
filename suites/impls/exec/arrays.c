/* arrays.c: arrays to JSON and back. Elements are sent as hexadecimal digits, which lose no
 * bits. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

static bool host_is_little(void)
{
    const unsigned one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first == 1;
}

/* Returns where byte i of the text lies in memory; in the text, elements are little-endian. */
static size_t byte_place(size_t i, size_t element)
{
    return host_is_little() ? i : i - i % element + (element - 1 - i % element);
}

/* Returns the bytes of an array; SIZE_MAX: more than a size_t can count. */
static size_t data_bytes(enum impl_dtype dtype, int ndim, const size_t dim[])
{
    size_t bytes = impl_dtype_bytes(dtype);

    for (int i = 0; i < ndim; ++i)
        if (dim[i] == 0)
            return 0;
    for (int i = 0; i < ndim; ++i) {
        if (bytes > SIZE_MAX / dim[i])
            return SIZE_MAX;
        bytes *= dim[i];
    }
    return bytes;
}

/* ---- to JSON --------------------------------------------------------------------------------- */

json_t *json_size(uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

json_t *json_sizes(const size_t *values, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; ++i)
        json_array_append_new(list, json_size(values[i]));
    return list;
}

static json_t *hexadecimal(const struct impl_array *array, size_t bytes)
{
    const unsigned char *data = array->data;
    const size_t element = impl_dtype_bytes(array->dtype);
    char *text = bytes < SIZE_MAX / 2 ? malloc(2 * bytes + 1) : NULL;
    json_t *value;

    if (!text)
        return NULL;
    for (size_t i = 0; i < bytes; ++i) {
        const unsigned char byte = data[byte_place(i, element)];
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    text[2 * bytes] = '\0';
    value = json_stringn_nocheck(text, 2 * bytes);
    free(text);
    return value;
}

json_t *json_array_of(const struct impl_array *array)
{
    if (array->dtype == IMPL_NONE)
        return json_null();
    return json_pack("{s:s, s:o, s:i, s:b, s:o}", "dtype", impl_dtype_word(array->dtype), "dims",
                     json_sizes(array->dim, (size_t)array->ndim), "device", array->device,
                     "needs_grad", array->needs_grad, "data",
                     hexadecimal(array, data_bytes(array->dtype, array->ndim, array->dim)));
}

size_t arrays_room(const struct impl_array *arrays, size_t n)
{
    size_t room = 0;

    for (size_t i = 0; arrays && i < n; ++i)
        room += arrays[i].capacity;
    return room;
}

/* ---- from JSON ------------------------------------------------------------------------------- */

static int value_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

static bool read_hexadecimal(const char *text, size_t bytes, size_t element, unsigned char *data)
{
    for (size_t i = 0; i < bytes; ++i) {
        const int high = value_of(text[2 * i]), low = value_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        data[byte_place(i, element)] = (unsigned char)(16 * high + low);
    }
    return true;
}

static void read_data(struct answer *a, const json_t *value, const char *where,
                      struct impl_array *array)
{
    const json_t *data = answer_field(a, value, where, "data");
    const size_t bytes = data_bytes(array->dtype, array->ndim, array->dim);

    if (data && !json_is_string(data))
        answer_fault(a, "%s.data is not a text", where);
    if (a->fault[0] != '\0')
        return;
    if (bytes > SIZE_MAX / 2 || json_string_length(data) != 2 * bytes)
        answer_fault(a, "%s.data has %zu digits, the dims and dtype need 2 times %zu", where,
                     json_string_length(data), bytes);
    else if (bytes > array->capacity)
        a->room = true;
    else if (!read_hexadecimal(json_string_value(data), bytes, impl_dtype_bytes(array->dtype),
                               array->data))
        answer_fault(a, "%s.data has a character that is not a hexadecimal digit", where);
}

void answer_array(struct answer *a, const json_t *value, const char *where,
                  struct impl_array *array)
{
    array->dtype = IMPL_NONE;
    array->ndim = 0;
    array->device = IMPL_NOWHERE;
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        answer_fault(a, "%s is not an array", where);
        return;
    }
    array->dtype = answer_dtype(a, value, where);
    answer_dims(a, value, where, &array->ndim, array->dim);
    array->device = (int)answer_int(a, value, where, "device", IMPL_HOST, IMPL_MAX_DEVICES - 1);
    read_data(a, value, where, array);
}
