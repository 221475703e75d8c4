/* measure/parts_copies.c: measures copies from each device to each other one, in rounds that visit
 * all pairs. */
#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SAMPLES = 5,
    COPY_FLOATS = 4 << 20, /* more than a cache of a core holds */
    MOST_COPIES = 40       /* of a pair */
};

struct copies {
    struct dp_group *group;
    int devices;
    struct dp_tensor from[DP_MAX_SLOTS], to[DP_MAX_SLOTS];
    float *host;
};

static float copied_number(int from, size_t i)
{
    return (float)((i * 31 + (size_t)from * 13) % 251);
}

static int copy_pair(struct copies *c, int from, int to, bool check, uint64_t *ns,
                     struct dp_error *err)
{
    int status = dp_group_wait(c->group, err);
    const uint64_t start = watch_clock_ns();

    if (status == 0)
        status = dp_tensor_copy(&c->to[to], &c->from[from], err);
    if (status == 0)
        status = dp_group_wait(c->group, err);
    *ns = watch_clock_ns() - start;
    if (status == 0 && check)
        status = dp_tensor_read(c->host, &c->to[to], err);
    for (size_t i = 0; check && status == 0 && i < COPY_FLOATS; ++i)
        if (!(c->host[i] == copied_number(from, i)))
            return dp_fail(err, DP_EFAULT, "value %zu of a copy from %s to %s is %g, not %g", i,
                           dp_slot_name(dp_group_slot(c->group, from)),
                           dp_slot_name(dp_group_slot(c->group, to)), (double)c->host[i],
                           (double)copied_number(from, i));
    return status;
}

int measure_copies(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err)
{
    struct record_part_times *times = &cell->part[RECORD_COPY];
    struct copies c = {.group = group, .devices = dp_group_size(group)};
    const size_t floats = COPY_FLOATS;
    uint64_t start;
    size_t n = 0;
    int status = 0;

    c.host = session_floats(floats);
    if (!c.host)
        return dp_fail(err, DP_ENOMEM, "no memory for a copy of %zu floats", floats);
    for (int d = 0; status == 0 && d < c.devices; ++d) {
        struct dp_slot *slot = dp_group_slot(group, d);

        for (size_t i = 0; i < floats; ++i)
            c.host[i] = copied_number(d, i);
        if ((status = dp_tensor_alloc(slot, DP_F32, 1, &floats, &c.from[d], err)) == 0 &&
            (status = dp_tensor_alloc(slot, DP_F32, 1, &floats, &c.to[d], err)) == 0 &&
            (status = dp_tensor_write(&c.from[d], c.host, err)) == 0)
            status = dp_tensor_write(&c.to[d], c.host, err);
    }
    start = watch_clock_ns();
    if (status == 0)
        record_part_alloc(cell, RECORD_COPY, MOST_COPIES);
    times->work = floats * sizeof(float);
    /* A round copies between all pairs. The first one is checked, and its times are kept, too. */
    while (status == 0 && n < MOST_COPIES &&
           (n < LEAST_SAMPLES || session_seconds_since(start) < seconds)) {
        for (size_t row = 0; status == 0 && row < times->rows; ++row) {
            const int from = (int)row / c.devices, to = (int)row % c.devices;

            if (from != to)
                status = copy_pair(&c, from, to, n == 0, &times->ns[row * MOST_COPIES + n], err);
        }
        ++n;
    }
    for (size_t row = 1; n > 0 && row < times->rows; ++row)
        memmove(times->ns + row * n, times->ns + row * MOST_COPIES, n * sizeof times->ns[0]);
    times->n = n;
    for (int d = 0; d < c.devices; ++d) {
        dp_tensor_free(&c.from[d]);
        dp_tensor_free(&c.to[d]);
    }
    free(c.host);
    return status;
}
