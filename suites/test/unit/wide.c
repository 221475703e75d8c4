/* wide.c: the rows of a batch whose numbers have many bits: where they are, how many bits they
 * have, and that every sum with them is exact. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "record_example.h"
#include "verify/arrays.h"
#include "workload.h"

/* Opening the reference proves that sums of |terms| are below 2^24. Returns its largest output. */
static double largest_output(const struct workload *workload, const struct workload_set *set,
                             size_t rows, enum dp_math math)
{
    struct text_error why = {""};
    struct verify *v = NULL;
    double most = 0;

    cr_assert(verify_open(workload, set, rows, 2, math, &v, &why) == 0, "%s, %zu rows, set %d: %s",
              workload->name, rows, set->index, why.text);
    const size_t width = workload->size[workload->n_sizes - 1];
    const double *output = v->arrays->output.value;

    for (size_t n = 0; n < rows; ++n)
        for (size_t i = 0; i < width; ++i)
            most = fmax(most, fabs(output[workload_pattern(set, n) * width + i]));
    verify_close(v);
    return most;
}

static const size_t batches[] = {1, 2, 10, 128, 8192};
enum { BATCHES = sizeof batches / sizeof batches[0] };

/* Outputs have some 20 bits; some chains have fewer, but more than any format that is rounded to.
 */
Test(wide, outputs_have_many_bits)
{
    static const struct {
        const char *name;
        int bits;
    } table[] = {{"tutorial", 17},
                 {"mlp:512,512", 19},
                 {"mlp:1024,1024,1024,1024", 18},
                 {"mlp:64,64,64,64,64,64,64,64", 15},
                 {"mlp:512,4,512", 13},
                 {"blocks", 19},
                 {"mixed", 18},
                 {"cnn", 18}};

    for (size_t w = 0; w < sizeof table / sizeof table[0]; ++w)
        for (size_t b = 0; b < BATCHES; ++b)
            for (int index = 0; index < WORKLOAD_SETS; ++index) {
                const struct workload workload = example_workload(table[w].name);
                const struct workload_set set =
                    workload_batch(&workload, batches[b], DP_MATH_F32, 11, index);
                const double most = largest_output(&workload, &set, batches[b], DP_MATH_F32);

                cr_assert(most >= ldexp(1, table[w].bits), "%s, %zu rows, set %d: at most %.0f",
                          workload.name, batches[b], index, most);
            }
}

/* Numbers are unchanged by the rounding of any math, in models of every form and depth. */
Test(wide, every_math_leaves_them_alone)
{
    static const char *const names[] = {"tutorial",
                                        "mlp:7,3,900",
                                        "mlp:3,2,65536",
                                        "mlp:20,4,40,8,80",
                                        "mlp:16,4,8,16,32,64,128",
                                        "mlp:256,256,256,256,256,256,256,256,256,256",
                                        "blocks",
                                        "mixed",
                                        "cnn"};
    int wide[DP_MATHS] = {0};

    for (size_t w = 0; w < sizeof names / sizeof names[0]; ++w)
        for (enum dp_math math = 0; math < DP_MATHS; ++math) {
            const struct workload workload = example_workload(names[w]);
            const struct workload_set set = workload_batch(&workload, 100, math, 5, 1);

            if (set.wide > 0)
                largest_output(&workload, &set, 100, math);
            wide[math] += set.wide > 0;
        }
    cr_assert(wide[DP_MATH_F32] == 9 && wide[DP_MATH_TF32] >= 5 && wide[DP_MATH_BF16] >= 2,
              "%d, %d and %d have wide rows", wide[DP_MATH_F32], wide[DP_MATH_TF32],
              wide[DP_MATH_BF16]);
}

/* Every shard of up to 8 has both kinds of rows, if there are enough rows. */
Test(wide, every_shard_has_some)
{
    const struct workload workload = example_workload("tutorial");

    for (size_t rows = 16; rows <= 3000; ++rows) {
        const struct workload_set set = workload_batch(&workload, rows, DP_MATH_F32, 1, 0);
        size_t inputs = 0, upstream = 0;

        for (size_t n = 0; n < rows; ++n) {
            const size_t pattern = workload_pattern(&set, n);

            cr_assert(pattern < workload_patterns(&set, rows));
            inputs += workload_wide_input(&set, pattern) > 0;
            upstream += workload_wide_upstream(&set, pattern) > 0;
            cr_assert(
                !(workload_wide_input(&set, pattern) && workload_wide_upstream(&set, pattern)));
        }
        cr_assert(inputs <= WORKLOAD_WIDE && upstream <= WORKLOAD_WIDE);
        for (size_t part = (rows + 3) / 4, first = 0; first + part <= rows; first += part) {
            size_t here = 0;

            for (size_t n = first; n < first + part; ++n)
                here += workload_wide_input(&set, workload_pattern(&set, n)) > 0;
            cr_assert(here > 0, "%zu rows: a quarter has no wide row", rows);
        }
    }
}

/* The numbers are odd, have that many bits, and both signs. */
Test(wide, numbers)
{
    const struct workload workload = example_workload("mlp:512,512");
    const struct workload_set set = workload_batch(&workload, 64, DP_MATH_F32, 1, 0);
    int negative = 0;

    cr_assert(set.wide == 19);
    for (size_t pattern = 0; pattern < 2 * WORKLOAD_WIDE; ++pattern)
        for (size_t j = 0; j < 512; ++j) {
            const bool inputs = pattern < WORKLOAD_WIDE;
            const int bits = inputs ? 19 - (int)pattern : 17 - (int)(pattern - WORKLOAD_WIDE);
            const double value =
                inputs ? workload_input(&set, pattern, j) : workload_upstream(&set, pattern, j);
            const double other =
                inputs ? workload_upstream(&set, pattern, j) : workload_input(&set, pattern, j);

            cr_assert(fmod(fabs(value), 2) == 1 && fabs(value) >= ldexp(1, bits - 1) &&
                          fabs(value) < ldexp(1, bits),
                      "pattern %zu: %.0f has not %d bits", pattern, value, bits);
            cr_assert(fabs(other) >= 1 && fabs(other) <= 3);
            negative += value < 0;
        }
    cr_assert(negative > 3 * 1024 && negative < 5 * 1024, "%d of 8192 are negative", negative);
}

/* If the reference proves numbers too large, fewer bits are asked for, until no row is wide. */
Test(wide, narrow)
{
    const struct workload workload = example_workload("mlp:8,8,8");
    struct workload_set set = workload_batch(&workload, 64, DP_MATH_F32, 1, 0);
    int steps = 0;

    for (int before = set.wide; set.wide > 0; before = set.wide, ++steps) {
        largest_output(&workload, &set, 64, DP_MATH_F32);
        workload_narrow(&set);
        cr_assert(set.wide == before - 1 || (before == 4 && set.wide == 0));
    }
    cr_assert(steps > 10 && !workload_is_wide(&set, 0) && workload_pattern(&set, 9) == 9);
    workload_narrow(&set);
    cr_assert(set.wide == 0);
}

/* Models that round keep their numbers. */
Test(wide, others_have_none)
{
    static const char *const names[] = {"rnn", "lstm", "capsnet", "resnet"};

    for (int i = 0; i < 4; ++i) {
        const struct workload workload = example_workload(names[i]);
        const struct workload_set set = workload_batch(&workload, 64, DP_MATH_F32, 1, 0);

        cr_assert(set.wide == 0 && workload_patterns(&set, 64) == 64);
        for (size_t n = 0; n < 64; ++n)
            cr_assert(workload_pattern(&set, n) == n && !workload_is_wide(&set, n));
    }
}

/* The numbers of every row are those of its pattern. */
static void check_rows(const struct workload *workload, const struct workload_set *set, size_t rows)
{
    const size_t in = workload->size[0], out = workload->size[workload->n_sizes - 1];
    float *inputs = calloc(rows * in, sizeof *inputs),
          *upstream = calloc(rows * out, sizeof *inputs);

    cr_assert(inputs && upstream);
    workload_fill_inputs(workload, set, rows, inputs);
    workload_fill_upstream(workload, set, rows, upstream);
    for (size_t n = 0; n < rows; ++n) {
        const size_t pattern = workload_pattern(set, n);

        for (size_t j = 0; j < in; ++j)
            cr_assert(inputs[n * in + j] == (float)workload_input(set, pattern, j), "row %zu", n);
        for (size_t j = 0; j < out; ++j)
            cr_assert(upstream[n * out + j] ==
                          (float)(workload_scale(set, n) * workload_upstream(set, pattern, j)),
                      "row %zu", n);
    }
    free(inputs);
    free(upstream);
}

Test(wide, rows_are_their_patterns)
{
    const struct workload workload = example_workload("mlp:33,20,7");

    for (size_t b = 0; b < 4; ++b) {
        const struct workload_set probe = workload_probe(&workload, 5, batches[b] + 300, 3);

        for (int index = 0; index < WORKLOAD_SETS; ++index) {
            const struct workload_set narrow = workload_set(5, index);
            const struct workload_set wide =
                workload_batch(&workload, batches[b] + 300, DP_MATH_F32, 5, index);

            cr_assert(wide.wide > 0);
            check_rows(&workload, &wide, batches[b] + 300);
            check_rows(&workload, &narrow, batches[b] + 300);
        }
        check_rows(&workload, &probe, batches[b] + 300);
    }
}
