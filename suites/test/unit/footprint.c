/* footprint.c: the planned memory of the devices in training, compared with the memory that they
 * held. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "record_example.h"
#include "train/train.h"

/* A training wraps its model in every mode; `more` says how many times the weights each device
 * holds in addition. */
static const struct way {
    const char *devices;
    struct workload_use use;
    unsigned more[2];
} ways[] = {{"virt:1", {WORKLOAD_REPLICAS, 1, DP_MATH_F32}, {0}},
            {"virt:2", {WORKLOAD_REPLICAS, 2, DP_MATH_F32}, {0, 0}},
            {"virt:1", {WORKLOAD_RANKS, 1, DP_MATH_F32}, {1}},
            {"virt:2", {WORKLOAD_RANKS, 2, DP_MATH_F32}, {1, 2}},
            {"virt:1", {WORKLOAD_REPLICAS, 1, DP_MATH_BF16}, {0}},
            {"virt:2", {WORKLOAD_RANKS, 2, DP_MATH_BF16}, {1, 2}}};

/* Trains on tokens that are all 0 and writes the most that each device held. Returns their number.
 */
static int footprint_train(const struct workload *workload, const struct way *way, size_t rows,
                           uint64_t peak[2])
{
    const struct dp_group_config config = {
        .devices = way->devices, .backend = "cpu", .math = way->use.math};
    const size_t tokens = rows * workload_tokens(workload);
    float *feature = calloc(tokens, sizeof *feature), loss;
    int32_t *label = calloc(tokens, sizeof *label);
    const struct loader_batch batch = {.rows = rows, .feature = feature, .label = label};
    struct train_side_config of_side = {.batch = rows,
                                        .ddp = way->use.way == WORKLOAD_RANKS,
                                        .update = {.kind = TRAIN_ADAMW, .lr = 1e-3, .parts = 1}};
    struct dp_group *group = NULL;
    struct train_model model;
    struct train_side side;
    struct dp_error err = {0};
    char why[200] = "";

    cr_assert(feature && label);
    cr_assert(train_model_of(workload, &model, why, sizeof why) == 0, "%s", why);
    of_side.model = &model;
    cr_assert(dp_group_open(&config, &group, &err) == 0, "%s", err.text);
    cr_assert(train_side_open(&side, group, &of_side, &err) == 0, "%s", err.text);
    cr_assert(train_model_init(&model, side.top, 1, &err) == 0, "%s", err.text);
    for (int i = 0; i < 3; ++i)
        cr_assert(train_side_step(&side, &batch, &loss, &err) == 0, "%s", err.text);

    const int devices = dp_group_size(group);

    for (int d = 0; d < devices; ++d) {
        struct dp_slot_info info;

        dp_slot_describe(dp_group_slot(group, d), &info);
        peak[d] = info.peak_bytes;
    }
    train_side_close(&side);
    dp_group_close(group);
    free(feature);
    free(label);
    return devices;
}

/* A sweep holds two sets of batches at a time, a training holds one. */
static void footprint_expect(const struct workload *workload, const struct way *way, size_t rows)
{
    uint64_t peak[2] = {0};
    const int devices = footprint_train(workload, way, rows, peak);

    for (int d = 0; d < devices; ++d) {
        struct workload_footprint held;

        cr_assert(workload_footprint(workload, &way->use, d == 0, rows, &held));

        const double wrapper = way->more[d] * held.weights;
        const double least = held.weights + held.gradients + held.states + held.gathered +
                             held.batches / 2 + held.step + wrapper;
        const double most = least + held.batches / 2 + held.spare, measured = (double)peak[d];

        cr_assert(least <= measured && measured <= most && most <= 2 * measured,
                  "%s in %s on %s, device %d, %zu rows: planned %.0f to %.0f, held %.0f",
                  workload->name, dp_math_name(way->use.math), way->devices, d, rows, least, most,
                  measured);
    }
}

Test(footprint, is_what_was_planned_and_at_least_half_of_it)
{
    static const char *const names[] = {"gpt-tiny", "gpt:1,32,2,64,2000"};
    static const size_t rows[] = {2, 8};

    for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n)
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; ++w)
            for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
                const struct workload workload = example_workload(names[n]);

                footprint_expect(&workload, &ways[w], rows[r]);
            }
}

/* The fixed reserve is a small part of a larger step, so that the numbers of such a step must be
 * right. */
Test(footprint, is_nearly_all_that_was_planned_of_a_larger_step)
{
    const struct workload workload = example_workload("gpt:1,128,4,64,300");

    footprint_expect(&workload, &ways[0], 32);
    footprint_expect(&workload, &ways[4], 32);
}

/* The wrapper of one device has gradients in addition to those of its model. Devices that share one
 * memory need the sum of all. */
Test(footprint, memory_is_that_of_one_device_or_of_all)
{
    const struct workload workload = example_workload("gpt-small");
    const double bytes = 4.0 * (double)workload_params(&workload);
    static const struct workload_use by_itself = {WORKLOAD_ALONE, 1, DP_MATH_F32};
    const struct workload_memory alone = workload_memory(&workload, &by_itself, true, 8),
                                 one = workload_memory(&workload, &ways[0].use, true, 8),
                                 rank = workload_memory(&workload, &ways[3].use, false, 8),
                                 ranks = workload_memory(&workload, &ways[3].use, true, 8);
    const struct workload cnn = example_workload("cnn");

    cr_assert(one.least - alone.least == bytes && alone.most > alone.least);
    cr_assert(2 * rank.least - ranks.least == bytes);
    cr_assert(isnan(workload_memory(&cnn, &by_itself, true, 8).least));
    cr_assert(workload_fits(&cnn, &by_itself, true, 1e12) == 0);
}

Test(footprint, the_largest_batch_fits_and_one_row_more_does_not)
{
    static const char *const names[] = {"gpt-tiny", "gpt2"};
    const double bytes = 16.0 * (1 << 30);

    for (size_t n = 0; n < 2; ++n)
        for (int way = WORKLOAD_ALONE; way <= WORKLOAD_RANKS; ++way) {
            const struct workload workload = example_workload(names[n]);
            const struct workload_use use = {(enum workload_way)way, 2, DP_MATH_F32};
            const size_t rows = workload_fits(&workload, &use, true, bytes);

            cr_assert(rows > 0);
            cr_assert(workload_memory(&workload, &use, true, rows).most <= bytes);
            cr_assert(workload_memory(&workload, &use, true, rows + 1).most > bytes);
        }
}

/* The number is 6 N + 6 L D (C + 1) for (2, 64, 2, 32, 256), where N is 2 * 12 * 64 * 64 + 256 *
 * 64. */
Test(footprint, a_token_takes_what_the_formula_says)
{
    const struct workload tiny = example_workload("gpt-tiny"), cnn = example_workload("cnn");

    cr_assert(workload_tokens(&tiny) == 32 && workload_tokens(&cnn) == 0);
    cr_assert(workload_token_flops(&tiny) == 6 * 114688 + 6 * 2 * 64 * 33);
    cr_assert(workload_flops(&tiny, 1) == 32 * (6 * 114688 + 12.0 * 2 * 64 * 32));
    cr_assert(isnan(workload_token_flops(&cnn)));
}

Test(footprint, a_sweep_is_refused_what_cannot_fit)
{
    static struct record_run run = {.communicator = "threads", .mem_bytes = (uint64_t)16 << 30};
    struct plan_options plan = {.devices = "virt:2",
                                .backend = "cpu",
                                .n_workloads = 1,
                                .count = {1, 2},
                                .n_counts = 2,
                                .batch = {2, 8},
                                .n_batches = 2,
                                .mode = {[CELL_DDP] = true},
                                .launches = 1};
    struct text_error why = {""};

    plan.workload[0] = example_workload("gpt2");
    cr_assert(plan_check_models(&plan, &run, &why) == -1);
    cr_assert(strstr(why.text, "gpt2, mode ddp, ") && strstr(why.text, "8 rows") &&
                  strstr(why.text, "this machine has 16; a batch of "),
              "%s", why.text);
    plan.n_batches = 1;
    cr_assert(plan_check_models(&plan, &run, &why) == 0, "%s", why.text);
    run.mem_bytes = 0; /* not known */
    plan.batch[0] = 1000;
    cr_assert(plan_check_models(&plan, &run, &why) == 0, "%s", why.text);
}
