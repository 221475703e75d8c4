/* gather.c: area GATH: parts from several devices are concatenated on one. */
#include "primitive.h"

#include "impls/words.h"

#define REFUSED (ALLOW(IMPL_EINVAL) | ALLOW(IMPL_ESHAPE))

/* ---- parts ----------------------------------------------------------------------------------- */

/* Returns the devices of n parts; more parts than devices are dealt round and round. */
static const int *places(struct check *c, int n)
{
    const int devices = check_devices(c);
    const int *order = primitive_order(c, devices);
    int *place = check_memory(c, (size_t)n * sizeof *place);

    for (int i = 0; i < n; ++i)
        place[i] = order[i % devices];
    return place;
}

static struct impl_array shape_of(enum impl_dtype dtype, int ndim, size_t a, size_t b, size_t d)
{
    const struct impl_array like = {.dtype = dtype, .ndim = ndim, .dim = {a, b, d}};

    return like;
}

/* Gathers n parts, with the given sizes in dimension dim of `like`, and checks the result. */
static void gather_and_check(struct check *c, const struct impl_array *like, int dim, int n,
                             const size_t sizes[], int device, double first)
{
    const int at = dim < 0 ? dim + like->ndim : dim;
    const struct impl_array *parts = primitive_parts(c, like, at, n, sizes, places(c, n), first);

    primitive_check_whole(c, primitive_gather(c, parts, n, dim, device), parts, n, at, device);
}

static void gather_still_works(struct check *c)
{
    static const size_t sizes[] = {3, 1};
    const struct impl_array like = shape_of(IMPL_F32, 2, 0, 2, 0);

    gather_and_check(c, &like, 0, 2, sizes, 0, 90);
}

/* ---- GATH-01, 02: order and sizes ------------------------------------------------------------ */

static void order(struct check *c)
{
    static const size_t sizes[] = {3, 3, 3, 1, 2, 2, 1, 4};
    const int devices = check_devices(c);
    const int most = devices < 4 ? 4 : devices > 8 ? 8 : devices;

    for (int n = 1; n <= most; ++n)
        for (int dim = -3; dim < 3; ++dim) {
            const struct impl_array like = shape_of(IMPL_F32, 3, 2, 3, 2);

            check_note(c, "%d parts, dim %d: ", n, dim);
            gather_and_check(c, &like, dim, n, sizes, (n + 3) % devices, 10 * n);
        }
}

/* The parts have many kilobytes, more than any small staging memory holds. */
static void wide_parts(struct check *c)
{
    static const size_t sizes[] = {3, 4, 2, 3};
    const struct impl_array like = shape_of(IMPL_F32, 3, 3, 29, 37);

    for (int n = 2; n <= 4; ++n)
        for (int dim = 0; dim < 2; ++dim) {
            check_note(c, "%d parts, dim %d: ", n, dim);
            gather_and_check(c, &like, dim, n, sizes, n % check_devices(c), 100 * n);
        }
}

static void free_sizes(struct check *c)
{
    static const struct {
        int n;
        size_t sizes[5];
    } all[] = {
        {4, {6, 6, 6, 2}}, {3, {1, 5, 2}},       {2, {1, 7}},
        {4, {1, 1, 1, 1}}, {5, {2, 1, 9, 1, 3}}, {3, {2, 0, 3}},
    };
    const struct impl_array like = shape_of(IMPL_F32, 2, 0, 3, 0);

    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        check_note(c, "%d parts of %zu, %zu, .. rows: ", all[i].n, all[i].sizes[0],
                   all[i].sizes[1]);
        gather_and_check(c, &like, 0, all[i].n, all[i].sizes, check_devices(c) - 1, 5);
    }
}

/* ---- GATH-03, 07, 09: refusals --------------------------------------------------------------- */

static const struct clash {
    int dim;
    struct {
        int ndim;
        size_t dim[IMPL_MAX_DIMS];
    } part[3];
} clashes[] = {
    {0, {{2, {2, 3}}, {2, {2, 4}}, {2, {2, 3}}}},
    {0, {{2, {2, 3}}, {2, {1, 3}}, {2, {2, 2}}}},
    {0, {{2, {2, 6}}, {1, {12}}, {2, {2, 6}}}},
    {0, {{3, {2, 3, 4}}, {3, {2, 4, 3}}, {3, {2, 3, 4}}}},
    {1, {{2, {3, 2}}, {2, {4, 2}}, {2, {3, 2}}}},
    {1, {{5, {2, 2, 4, 1, 2}}, {5, {2, 4, 4, 1, 2}}, {5, {2, 2, 4, 2, 1}}}},
    {-1, {{3, {2, 3, 1}}, {3, {2, 3, 5}}, {3, {3, 2, 1}}}},
};

static void unlike_parts(struct check *c)
{
    const int *place = places(c, 3);

    for (size_t i = 0; i < sizeof clashes / sizeof clashes[0]; ++i) {
        struct impl_array parts[3];

        for (int p = 0; p < 3; ++p)
            parts[p] = *check_on(check_array(c, clashes[i].part[p].ndim, clashes[i].part[p].dim,
                                             check_sequence(c, 64, 1, 1)),
                                 place[p]);
        check_note(c, "pair of shapes number %zu: ", i);
        check_refused(c, "a gather of parts that do not fit",
                      primitive_try_gather(c, parts, 3, clashes[i].dim, place[0]),
                      ALLOW(IMPL_ESHAPE) | ALLOW(IMPL_EINVAL));
        gather_still_works(c);
    }
}

static void no_parts(struct check *c)
{
    const struct impl_array unused = shape_of(IMPL_F32, 1, 1, 0, 0);

    for (int device = IMPL_HOST; device < check_devices(c); ++device) {
        check_refused(c, "a gather of no parts", primitive_try_gather(c, &unused, 0, 0, device),
                      REFUSED);
        gather_still_works(c);
    }
}

static void parts_on_the_host(struct check *c)
{
    static const size_t sizes[] = {3, 1};
    static const int host[] = {IMPL_HOST, IMPL_HOST};
    const struct impl_array like = shape_of(IMPL_F32, 2, 0, 2, 0);
    struct impl_array *parts = primitive_parts(c, &like, 0, 2, sizes, host, 1);

    check_refused(c, "a gather of parts on the host", primitive_try_gather(c, parts, 2, 0, 0),
                  REFUSED | ALLOW(IMPL_EDEVICE));
    gather_still_works(c);
}

/* Makes n numbers, each a part without dimensions. */
static struct impl_array *scalars_of(struct check *c, enum impl_dtype dtype, int n, double first)
{
    const int *place = places(c, n);
    struct impl_array *parts = check_memory(c, (size_t)n * sizeof *parts);

    for (int i = 0; i < n; ++i)
        parts[i] = *check_on(check_typed(c, dtype, 0, NULL, check_sequence(c, 1, first + 7 * i, 1)),
                             place[i]);
    return parts;
}

static struct impl_array *scalars(struct check *c, int n, double first)
{
    return scalars_of(c, IMPL_F32, n, first);
}

static void scalars_elsewhere(struct check *c)
{
    static const int dims[] = {1, -1, 2, -2};

    for (int n = 2; n <= 4; ++n)
        for (size_t i = 0; i < sizeof dims / sizeof dims[0]; ++i) {
            check_note(c, "%d numbers: ", n);
            check_refused(c, check_text(c, "a gather of numbers in dim %d", dims[i]),
                          primitive_try_gather(c, scalars(c, n, 3), n, dims[i], 0), REFUSED);
            gather_still_works(c);
        }
}

static void scalars_and_vectors(struct check *c)
{
    static const double two[] = {8, 9};

    for (int n = 2; n <= 4; ++n)
        for (int odd = 0; odd < n; ++odd)
            for (size_t length = 1; length <= 2; ++length) {
                struct impl_array *parts = scalars(c, n, 3);

                parts[odd] = *check_on(check_vector(c, length, two), parts[odd].device);
                check_note(c, "%d parts, number %d has a dimension of %zu: ", n, odd, length);
                check_refused(c, "a mix of numbers and vectors",
                              primitive_try_gather(c, parts, n, 0, 0), REFUSED);
            }
    gather_still_works(c);
}

/* ---- GATH-05, 10, 12, 13 --------------------------------------------------------------------- */

static void vector_of_scalars(struct check *c)
{
    const int devices = check_devices(c);

    for (int n = 1; n <= 8; ++n) {
        const size_t shape[] = {(size_t)n};
        const int device = (n + 2) % (devices + 1) - 1;
        const struct impl_array *y;

        check_note(c, "%d numbers, to device %d: ", n, device);
        y = primitive_gather(c, scalars(c, n, 5), n, 0, device);
        check_shape(c, "the vector", y, 1, shape);
        check_values(c, "the vector", y, shape[0], check_sequence(c, shape[0], 5, 7));
        check_device(c, "the vector", y, device);
    }
}

static void destinations(struct check *c)
{
    static const size_t sizes[] = {2, 3, 1, 2};
    const struct impl_array like = shape_of(IMPL_F32, 2, 0, 3, 0);

    for (int device = IMPL_HOST; device < check_devices(c); ++device)
        for (int n = 1; n <= 4; ++n) {
            check_note(c, "%d parts, to device %d: ", n, device);
            gather_and_check(c, &like, 0, n, sizes, device, 10 * n + device);
        }
}

/* The integers fit in no float; some parts have no elements. */
static void types(struct check *c)
{
    static const enum impl_dtype all[] = {IMPL_F64, IMPL_I32, IMPL_I64, IMPL_F32};
    static const double first[] = {1099511627777.0, 16777217.0, 1099511627779.0, -3};
    static const size_t sizes[][4] = {{3, 3, 3, 1}, {2, 0, 1, 4}, {0, 0, 0, 0}};

    for (int type = 0; type < 4; ++type) {
        const struct impl_array *y;

        for (int s = 0; s < 3; ++s)
            for (int dim = 0; dim < 2; ++dim) {
                const struct impl_array like = shape_of(all[type], 2, 3, 2, 0);

                check_note(c, "type %s, %zu, %zu, .. in dim %d: ", impl_dtype_word(all[type]),
                           sizes[s][0], sizes[s][1], dim);
                gather_and_check(c, &like, dim, 4, sizes[s], type % check_devices(c), first[type]);
            }
        y = primitive_gather(c, scalars_of(c, all[type], 3, first[type]), 3, 0, 0);
        check_int(c, "type of the vector of three numbers", y->dtype, all[type]);
        check_values(c, "the vector of three numbers", y, 3, check_sequence(c, 3, first[type], 7));
    }
}

/* Adds 1 to all parts; afterwards the result must be what it was. */
static void change_parts(struct check *c, const struct impl_array parts[], int n, int device)
{
    struct impl_gather op = {.parts = parts, .n = n, .device = device};

    op.out = check_output(c, 1, 64);
    op.out_after = check_output(c, 1, 64);
    check_note(c, "%d parts of %d dimensions, to device %d: ", n, parts[0].ndim, device);
    check_gather(c, &op);
    check_same(c, "the result after 1 was added to the parts", op.out_after, op.out);
    if (parts[0].ndim > 0)
        primitive_check_whole(c, op.out_after, parts, n, 0, device);
    else
        check_values(c, "the vector", op.out_after, (size_t)n, check_sequence(c, (size_t)n, 6, 7));
}

/* The parts are on the device of the result already, or on any devices. */
static void result_is_a_copy(struct check *c)
{
    static const size_t sizes[] = {3, 1, 2};
    const struct impl_array like = shape_of(IMPL_F32, 2, 0, 2, 0);

    for (int device = IMPL_HOST; device < check_devices(c); ++device)
        for (int n = 1; n <= 3; ++n) {
            const int here[] = {device, device, device};

            change_parts(c, primitive_parts(c, &like, 0, n, sizes, places(c, n), 20 * n), n,
                         device);
            change_parts(c, scalars(c, n, 6), n, device);
            if (device != IMPL_HOST)
                change_parts(c, primitive_parts(c, &like, 0, n, sizes, here, 20 * n), n, device);
        }
}

static const struct check_case cases[] = {
    {"GATH-01.order", "GATH-01", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, order},
    {"GATH-01.wide", "GATH-01", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, wide_parts},
    {"GATH-02.sizes", "GATH-02", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, free_sizes},
    {"GATH-03.shapes", "GATH-03", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, unlike_parts},
    {"GATH-05.vector", "GATH-05", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, vector_of_scalars},
    {"GATH-07.dim", "GATH-07", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, scalars_elsewhere},
    {"GATH-07.mix", "GATH-07", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_GATHER, 1,
     scalars_and_vectors},
    {"GATH-09.empty", "GATH-09", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, no_parts},
    {"GATH-09.host", "GATH-09", MUST_REFUSE, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, parts_on_the_host},
    {"GATH-10.device", "GATH-10", MUST, REPORTED, PRIM, IMPL_CAP_GATHER, 1, destinations},
    {"GATH-12.types", "GATH-12", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, types},
    {"GATH-13.copy", "GATH-13", MUST, OBSERVED, PRIM, IMPL_CAP_GATHER, 1, result_is_a_copy},
};
const struct check_table gather_table = CHECK_TABLE(cases);
