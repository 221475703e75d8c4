/* collectives.c: the numbers of collectives and their results, the plan of a sweep of them, and
 * records that cannot be right. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "record/record.h"
#include "record_example.h"
#include "verify/collective.h"

enum { COUNT = 5000 };

static struct collective_data collectives_open_data(enum collective_id id, int ranks)
{
    struct collective_data data = {.collective = &collectives[id],
                                   .type = &collective_types[0],
                                   .ranks = ranks,
                                   .count = COUNT};
    cr_assert(collective_open(&data) == 0);
    return data;
}

static const float *collectives_numbers(const void *array)
{
    return (const float *)array + COLLECTIVE_GUARD;
}

/* The result is the sum of the inputs, which is exact in any order. */
Test(collectives, sums_are_those_of_the_ranks)
{
    for (int ranks = 2; ranks <= DP_MAX_SLOTS; ranks += 31) {
        struct collective_data data = collectives_open_data(COLLECTIVE_ALLREDUCE, ranks);
        double *sum = calloc(COUNT, sizeof *sum);
        cr_assert(sum);
        for (int r = 0; r < ranks; ++r) {
            collective_input(&data, r, 12345);
            for (size_t i = 0; i < COUNT; ++i)
                sum[i] += (double)collectives_numbers(data.host)[i];
        }
        collective_expect(&data, 1, 12345);
        for (size_t i = 0; i < COUNT; ++i) {
            cr_assert((double)collectives_numbers(data.answer)[i] == sum[i], "%d ranks, index %zu",
                      ranks, i);
            cr_assert(sum[i] < 0x1p24);
        }
        free(sum);
        collective_close(&data);
    }
}

/* The numbers of another rank, or of another iteration, differ everywhere. */
Test(collectives, numbers_differ_everywhere)
{
    struct collective_data data = collectives_open_data(COLLECTIVE_BROADCAST, 4), other = data;
    cr_assert(collective_open(&other) == 0);
    for (int r = 0; r < 4; ++r) {
        for (int past = 0; past < 10; ++past) {
            collective_input(&data, 0, 20);
            collective_input(&other, r, 20 - (uint64_t)past);
            for (size_t i = 0; i < COUNT; ++i)
                cr_assert((collectives_numbers(data.host)[i] ==
                           collectives_numbers(other.host)[i]) == (r == 0 && past == 0),
                          "rank %d, %d iterations before, index %zu", r, past, i);
        }
    }
    collective_expect(&data, 1, 20);
    collective_input(&data, 0, 20);
    cr_assert(memcmp(data.host, data.answer, collective_elements(&data) * sizeof(float)) == 0);
    collective_close(&data);
    collective_close(&other);
}

static void flip(void *array, size_t element, uint32_t mask)
{
    uint32_t bits;
    memcpy(&bits, (float *)array + element, sizeof bits);
    bits ^= mask;
    memcpy((float *)array + element, &bits, sizeof bits);
}

/* One flipped bit is found anywhere, also in the guards, and so is a result that was not written at
 * all. */
Test(collectives, every_flip_is_found)
{
    struct collective_data data = collectives_open_data(COLLECTIVE_BROADCAST, 2);
    struct collective_mismatch found;
    const size_t elements = collective_elements(&data);
    collective_expect(&data, 1, 3);
    for (size_t i = 0; i < elements; i += i < 40 || i + 40 > elements ? 1 : 97) {
        const uint32_t mask = UINT32_C(1) << i % 32;
        collective_input(&data, 0, 3);
        cr_assert(!collective_differs(&data, 1, &found) && found.wrong == 0);
        flip(data.host, i, mask);
        cr_assert(collective_differs(&data, 1, &found), "element %zu", i);
        cr_assert(found.index == (long long)i - COLLECTIVE_GUARD && found.wrong == 1);
        cr_assert((found.expected ^ found.actual) == mask);
    }
    collective_forget(&data);
    cr_assert(collective_differs(&data, 1, &found) && found.wrong == elements);
    collective_close(&data);
}

Test(collectives, factors_are_those_of_nccl_tests)
{
    const struct collective *sum = collective_find("allreduce"),
                            *copy = collective_find("broadcast");
    cr_assert(sum && copy && !collective_find("allredux"));
    cr_assert(sum->factor(2) == 1.0 && sum->factor(4) == 1.5 && sum->factor(8) == 1.75);
    cr_assert(copy->factor(2) == 1.0 && copy->factor(8) == 1.0);
    for (int id = COLLECTIVE_ALLGATHER; id < COLLECTIVES; ++id)
        cr_assert(collectives[id].factor(2) == 0.5 && collectives[id].factor(8) == 0.875);
    cr_assert(!collective_type_find("f8"));
}

/* Computes every collective by its definition, from the inputs of its ranks: in place and out of
 * place. */
static double defined(const struct collective_data *data, const float *in[], int rank, size_t i)
{
    const size_t ranks = (size_t)data->ranks, block = data->count / ranks;
    const size_t own = (size_t)rank * block;
    double sum = 0;
    switch ((enum collective_id)(data->collective - collectives)) {
    case COLLECTIVE_BROADCAST:
        return in[0][i];
    case COLLECTIVE_ALLGATHER:
        return in[i / block][i % block];
    case COLLECTIVE_ALLTOALL:
        return in[i / block][own + i % block];
    case COLLECTIVE_REDUCESCATTER:
        for (size_t r = 0; r < ranks; ++r)
            sum += in[r][own + i];
        return sum;
    default:
        for (size_t r = 0; r < ranks; ++r)
            sum += in[r][i];
        return sum;
    }
}

static void bring_all(const struct collective_data *data, float *in[])
{
    for (int r = 0; r < data->ranks; ++r) {
        const struct collective_range range = collective_in(data, r);
        in[r] = calloc(range.n, sizeof *in[r]);
        cr_assert(in[r]);
        collective_input(data, r, 77);
        memcpy(in[r], (const float *)data->host + range.first, range.n * sizeof *in[r]);
    }
}

static void each_answer(struct collective_data *data)
{
    struct collective_mismatch found;
    float *in[4];
    bring_all(data, in);
    for (int r = 0; r < data->ranks; ++r) {
        const struct collective_range out = collective_out(data, r);
        const float *answer = (const float *)data->answer + out.first;
        collective_expect(data, r, 77);
        for (size_t i = 0; i < out.n; ++i)
            cr_assert((double)answer[i] == defined(data, (const float **)in, r, i),
                      "%s, rank %d, index %zu", data->collective->name, r, i);
        /* The input does not equal the result yet, and a result is right for its rank only. */
        collective_input(data, r, 77);
        cr_assert(collective_differs(data, r, &found) || data->collective->nccl_root == 0);
        memcpy(data->host, data->answer, collective_elements(data) * sizeof(float));
        cr_assert(!collective_differs(data, r, &found));
        flip(data->host, out.first + out.n - 1, 1);
        cr_assert(collective_differs(data, r, &found) && found.wrong == 1);
        cr_assert(found.index == (long long)out.n - 1);
    }
    for (int r = 0; r < data->ranks; ++r)
        free(in[r]);
}

Test(collectives, answers_are_their_definitions)
{
    for (int id = 0; id < COLLECTIVES; ++id) {
        for (int apart = collectives[id].out_of_place; apart < 2; ++apart) {
            struct collective_data data = {.collective = &collectives[id],
                                           .type = &collective_types[0],
                                           .ranks = 4,
                                           .count = 4 * 601,
                                           .out_of_place = apart};
            cr_assert(collective_open(&data) == 0);
            each_answer(&data);
            collective_close(&data);
        }
    }
}

static double collectives_number_of(const struct collective_type *type, const void *array, size_t i)
{
    switch (type->dtype) {
    case DP_F64:
        return ((const double *)array)[i];
    case DP_I32:
        return ((const int32_t *)array)[i];
    case DP_BF16:
        return ((const uint16_t *)array)[i] - 0x3f80;
    default:
        return (double)((const float *)array)[i];
    }
}

/* Every type has the same integers, and a flipped bit is reported at its place. */
Test(collectives, types_have_the_same_numbers)
{
    for (int t = 0; t < COLLECTIVE_TYPES; ++t) {
        struct collective_data wide = collectives_open_data(COLLECTIVE_ALLGATHER, 5), data = wide;
        struct collective_mismatch found;
        data.type = &collective_types[t];
        cr_assert(collective_open(&data) == 0);
        collective_expect(&wide, 2, 9);
        collective_expect(&data, 2, 9);
        for (size_t i = 0; i < collective_elements(&data); ++i)
            cr_assert(collectives_number_of(data.type, data.answer, i) ==
                          (double)((const float *)wide.answer)[i],
                      "%s, element %zu", data.type->name, i);
        for (size_t bit = 0; bit < 8 * data.type->bytes; ++bit) {
            memcpy(data.host, data.answer, collective_elements(&data) * data.type->bytes);
            ((unsigned char *)data.host)[(COLLECTIVE_GUARD + 3) * data.type->bytes + bit / 8] ^=
                (unsigned char)(1u << bit % 8);
            cr_assert(collective_differs(&data, 2, &found) && found.wrong == 1);
            cr_assert(found.index == 3 && (found.expected ^ found.actual) == UINT64_C(1) << bit);
        }
        collective_close(&wide);
        collective_close(&data);
    }
}

/* A block for another rank, or from another one, differs nearly everywhere, for all sizes: 987 and
 * 1597 are the sizes at which the golden ratio repeats itself best. */
Test(collectives, blocks_differ)
{
    static const size_t blocks[] = {1, 610, 987, 1597, 4181};
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; ++k) {
        struct collective_data data = {.collective = &collectives[COLLECTIVE_ALLTOALL],
                                       .type = &collective_types[0],
                                       .ranks = 8,
                                       .count = 8 * blocks[k],
                                       .out_of_place = true};
        cr_assert(collective_open(&data) == 0);
        collective_input(&data, 3, 5);
        const float *in = (const float *)data.host + collective_in(&data, 3).first;
        for (size_t b = 1; b < 8; ++b)
            for (size_t i = 0; i < blocks[k]; ++i)
                cr_assert(in[b * blocks[k] + i] != in[i], "block %zu, index %zu", b, i);
        collective_close(&data);
    }
}

/* ---- plans --------------------------------------------------------------------------------- */

static struct plan_options example(void)
{
    struct plan_options options = {.collective = {"allreduce", "broadcast"},
                                   .n_collectives = 2,
                                   .size = {8, 4096},
                                   .n_sizes = 2,
                                   .launches = 3,
                                   .limits = {.seconds = 1, .min_steps = 1, .max_steps = 9}};
    strcpy(options.devices, "virt:4");
    strcpy(options.backend, "cpu");
    return options;
}

Test(collectives, a_plan_has_each_with_each_size)
{
    struct plan_options options = example();
    struct text_error why = {""};
    cr_assert(plan_defaults(&options, 4, &why) == 0, "%s", why.text);
    cr_assert(options.n_counts == 2 && options.count[0] == 2 && options.count[1] == 4);
    cr_assert(plan_block(&options) == 8 && plan_cells(&options) == 24);
    struct cell_config *cells = plan_make(&options, "threads", "0123456789abcdef");
    cr_assert(cells);
    for (size_t i = 0; i < 24; ++i) {
        struct record_cell cell, other;
        cell_identify(&cells[i], &cell);
        cr_assert(cells[i].mode == CELL_COLLECTIVE && cells[i].rows == 0);
        cr_assert_str_eq(cell.key.workload, cells[i].collective);
        cr_assert_str_eq(cell.key.dtype, "f32");
        cr_assert(cell.key.size_bytes == cells[i].size_bytes && cells[i].size_bytes > 0);
        cr_assert(cell.bus_factor >= 1.0 && isnan(cell.algbw_bytes_per_s));
        for (size_t k = 0; k < i; ++k) {
            cell_identify(&cells[k], &other);
            cr_assert_str_neq(cell.cell_id, other.cell_id);
        }
        /* Cells of one collective and size are next to each other. */
        cr_assert(i % 2 == 0 || (cells[i].size_bytes == cells[i - 1].size_bytes &&
                                 strcmp(cells[i].collective, cells[i - 1].collective) == 0));
    }
    free(cells);
}

Test(collectives, a_size_beyond_memory_is_refused)
{
    struct plan_options options = example();
    struct text_error why = {""};
    cr_assert(plan_defaults(&options, 4, &why) == 0, "%s", why.text);
    cr_assert(plan_check_memory(&options, 6 * 4096, &why) == 0, "%s", why.text);
    cr_assert(plan_check_memory(&options, 6 * 4096 - 1, &why) == -1);
    cr_assert(strstr(why.text, "--sizes has 4096: on 4 devices that takes 24576 bytes"), "%s",
              why.text);
}

/* ---- records ------------------------------------------------------------------------------- */

/* A verified cell of 12 iterations, 2 of them warm-up. */
static struct record_cell verified(void)
{
    struct cell_config config = {
        .mode = CELL_COLLECTIVE, .n_devices = 4, .size_bytes = 4096, .limits = {.warmup_steps = 2}};
    struct record_cell cell;
    strcpy(config.collective, "allreduce");
    strcpy(config.type, "f32");
    strcpy(config.devices, "virt:4");
    strcpy(config.backend, "cpu");
    strcpy(config.communicator, "threads");
    strcpy(config.run_id, "0123456789abcdef");
    cell_identify(&config, &cell);
    cr_assert(record_cell_alloc(&cell, 12, 0) == 0);
    cell.n_ranks = 4;
    for (size_t i = 0; i < 12; ++i) {
        cell.t_start_ns[i] = 1000 * i;
        cell.t_step_ns[i] = 500 + i;
    }
    cell.warmup_steps = 2;
    cell_warmup_rule(&config.limits, cell.warmup_rule);
    cell.steady_state = true;
    cell.status = RECORD_OK;
    cell.validated = true;
    cell.steps_checked = 12;
    cell.values_checked = (size_t)12 * 4 * 1024;
    cell.start_epoch_ns = UINT64_C(1795248000000000000);
    cell.wall_ns = 100000;
    record_derive(&cell);
    return cell;
}

Test(collectives, records_must_be_theirs)
{
    static const char *const rows[][2] = {
        {"bus_factor=2 derived", "\"bus_factor\" is 2, outside 1.5 to 1.5"},
        {"bus_factor=nan derived", "\"bus_factor\" is nan"},
        {"size_bytes=4097 derived", "\"size_bytes\" is 4097, no multiple of the 4 bytes"},
        {"busbw_bytes_per_s=1", "\"busbw_bytes_per_s\" does not follow"},
        {"values_checked=48128", "\"values_checked\" is 48128, outside 49152 to 49152"},
        {"steps_checked=11", "\"steps_checked\" is 11, outside 12 to 12"},
        {"workload=allredux", "\"allredux\", no collective: allreduce, broadcast, allgather, "},
        {"dtype=bf16 values_checked=98304", "\"dtype\" is \"bf16\", which allreduce does not add"},
        {"dtype=f8", "\"values_checked\" is 49152"},
        {"n_devices=1 n_ranks=1 devices=virt:1", "\"values_checked\""},
        {"global_batch=64", "\"shard_rows\" is 0, outside 64 to 64"},
        {"model_params=10", "\"model_params\" is 10, outside 0 to 0"},
        {"mode=dp", "\"shard_rows\" is not how mode dp splits 0 rows"},
        {"n_alone=5", "has no \"alone_ns\""},
    };
    struct record_cell cell = verified(), back = example_again(&cell);
    cr_assert(back.key.size_bytes == 4096 && back.bus_factor == 1.5);
    cr_assert(fabs(back.busbw_bytes_per_s / back.algbw_bytes_per_s - 1.5) < 1e-12);
    record_cell_free(&back);
    record_cell_free(&cell);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cell = verified();
        example_change_refused(&cell, rows[i][0], rows[i][1]);
        record_cell_free(&cell);
    }
}
