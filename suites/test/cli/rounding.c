/* rounding.c: a cell whose matrix products are silently rounded must fail, with every workload,
 * batch and mode; a cell without rounding must pass. usage: rounding_test [all] [WORKLOAD]: `all`
 * adds coarser rounding, which is easier to find, and larger batches.
 *
 * This program's cblas_sgemm comes before the library's, which it calls: it rounds the operands or
 * the results of every product, or of none. Sums are still made in single precision. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../next_sgemm.h"
#include "kernels.h"
#include "measure/measure.h"

enum { FLOAT_BITS = 24 };

/* A rounding: the significant bits of operands and of results. fine: no finer rounding of this kind
 * is found. */
struct fault {
    const char *name;
    int operands, results;
    bool fine;
};

static const struct fault honest = {"nothing rounded", FLOAT_BITS, FLOAT_BITS, true};
static const struct fault faults[] = {
    {"results to bf16", FLOAT_BITS, 8, false},    {"results to 11 bits", FLOAT_BITS, 11, false},
    {"results to 14 bits", FLOAT_BITS, 14, true}, {"results to 16 bits", FLOAT_BITS, 16, true},
    {"operands to bf16", 8, FLOAT_BITS, false},   {"operands to 11 bits", 11, FLOAT_BITS, true}};
static bool all_faults;
static const struct fault *planted = &honest;
static size_t planted_from; /* the first product that the fault is in */
static atomic_size_t calls;
static size_t wrong_from = SIZE_MAX; /* the first product that is wrong by 1 */

/* Rounds to the nearest, ties to even. */
static float rounding_rounded(float value, int bits)
{
    const int drop = FLOAT_BITS - bits;
    uint32_t word;

    memcpy(&word, &value, sizeof word);
    word += (UINT32_C(1) << (drop - 1)) - 1 + ((word >> drop) & 1);
    word &= ~((UINT32_C(1) << drop) - 1);
    memcpy(&value, &word, sizeof value);
    return value;
}

static void round_all(float *values, size_t n, int bits)
{
    if (bits == FLOAT_BITS)
        return;
    for (size_t i = 0; i < n; ++i)
        values[i] = rounding_rounded(values[i], bits);
}

static float *rounded_copy(const float *from, size_t n, int bits)
{
    float *to = malloc(n * sizeof *to);

    if (!to)
        abort();
    memcpy(to, from, n * sizeof *to);
    round_all(to, n, bits);
    return to;
}

/* The values of cblas.h; enumerations are ints. */
enum { CblasRowMajor = 101, CblasNoTrans = 111, CblasTrans = 112 };

/* No matrix has gaps. */
void cblas_sgemm(int layout, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    const size_t call = atomic_fetch_add(&calls, 1);
    const struct fault *fault = call >= planted_from ? planted : &honest;
    float *near_a = rounded_copy(a, (size_t)m * (size_t)k, fault->operands);
    float *near_b = rounded_copy(b, (size_t)k * (size_t)n, fault->operands);

    next_sgemm()(layout, turn_a, turn_b, m, n, k, alpha, near_a, lda, near_b, ldb, beta, c, ldc);
    round_all(c, (size_t)m * (size_t)n, fault->results);
    if (call >= wrong_from)
        c[0] += 1;
    free(near_a);
    free(near_b);
}

/* The smallest products, which core computes without CBLAS, are rounded, too. */
void __wrap_dp_fast_small_gemm(const struct dp_gemm *g);
void __wrap_dp_fast_small_gemm(const struct dp_gemm *g)
{
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;

    cblas_sgemm(CblasRowMajor, g->transpose_a ? CblasTrans : CblasNoTrans,
                g->transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, g->a,
                g->transpose_a ? m : k, g->b, g->transpose_b ? k : n, g->accumulate ? 1.0f : 0.0f,
                g->c, n);
}

static struct record_cell measured(const char *workload, enum cell_mode mode, size_t rows)
{
    struct cell_config config = {.devices = "virt:2",
                                 .n_devices = mode == CELL_PLAIN ? 1 : 2,
                                 .mode = mode,
                                 .backend = "cpu",
                                 .communicator = "threads",
                                 .rows = rows,
                                 .seed = 3,
                                 .limits = {.min_steps = 2, .max_steps = 2}};
    struct record_cell cell;
    char why[200] = "";

    if (mode == CELL_PLAIN)
        strcpy(config.devices, "virt:1");
    if (workload_parse(workload, &config.workload, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    cell_measure(&config, NULL, NULL, &cell);
    record_cell_free(&cell);
    return cell;
}

/* The data of the timed steps alone find rounded numbers, too: the products of the probe, as many
 * as those of a step, are right here. */
static int try_timed(const char *workload, enum cell_mode mode, size_t rows)
{
    enum { LEAST_BITS = 15, ALONE_WARMUP = 2 };
    struct record_cell cell;
    size_t steps;
    int wrong = 0;

    planted = &honest;
    atomic_store(&calls, 0);
    cell = measured(workload, mode, rows);
    if (cell.exact_bits < LEAST_BITS) {
        printf("FAILED: exact data of %d bits, fewer than %d\n", cell.exact_bits, LEAST_BITS);
        ++wrong;
    }
    /* The probe, the steps that are checked, and those without communication. */
    steps = 1 + cell.steps_checked + (cell.n_alone > 0 ? (size_t)cell.n_alone + ALONE_WARMUP : 0);
    planted_from = atomic_load(&calls) / steps;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        if (faults[i].results >= LEAST_BITS && faults[i].operands >= LEAST_BITS)
            continue;
        if (!all_faults && !faults[i].fine)
            continue;
        planted = &faults[i];
        atomic_store(&calls, 0);
        cell = measured(workload, mode, rows);
        if (cell.status == RECORD_FAILED && strncmp(cell.reason, "step 0, ", 8) == 0)
            continue;
        printf("FAILED: %s after the probe is %s: %s\n", planted->name,
               record_status_names[cell.status], cell.reason);
        ++wrong;
    }
    planted_from = 0;
    return wrong;
}

/* Returns the number of cells with a wrong verdict. */
static int try_cell(const char *workload, enum cell_mode mode, size_t rows)
{
    int wrong = 0, exact_bits;
    struct record_cell cell;

    planted = &honest;
    cell = measured(workload, mode, rows);
    exact_bits = cell.exact_bits;
    printf("%-16s %-5s %5zu rows: %2d bits, bound %.2g, ratio %.2g", workload,
           cell_mode_names[mode], rows, cell.exact_bits, cell.probe_bound, cell.probe_ratio);
    if (cell.status != RECORD_OK || !(cell.probe_ratio > 0 && cell.probe_ratio <= 1)) {
        printf("\nFAILED: %s: %s", record_status_names[cell.status], cell.reason);
        ++wrong;
    }
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        /* The bounds of routing by agreement are that wide. */
        const int finest = strcmp(workload, "capsnet") == 0 ? 14 : 16;

        if (faults[i].results < FLOAT_BITS && faults[i].results > finest)
            continue;
        if (!all_faults && (!faults[i].fine || faults[i].results < finest))
            continue;
        planted = &faults[i];
        cell = measured(workload, mode, rows);
        printf("  %.3g", cell.probe_ratio);
        if (cell.status == RECORD_FAILED && cell.reason[0] != '\0')
            continue;
        printf("\nFAILED: %s is %s: %s\n", planted->name, record_status_names[cell.status],
               cell.reason);
        ++wrong;
    }
    printf("\n");
    if (mode == CELL_DP && exact_bits > 0)
        wrong += try_timed(workload, mode, rows);
    fflush(stdout);
    return wrong;
}

/* The last steps of ranks, which tell how much of the reduction overlaps with backward, are timed
 * and verified, too: only the very last product is wrong. */
static int try_last(void)
{
    struct record_cell cell;

    planted = &honest;
    atomic_store(&calls, 0);
    cell = measured("tutorial", CELL_DDP, 64);
    wrong_from = atomic_load(&calls) - 1;
    atomic_store(&calls, 0);
    cell = measured("tutorial", CELL_DDP, 64);
    wrong_from = SIZE_MAX;
    printf("the last product is wrong: %s: %s\n", record_status_names[cell.status], cell.reason);
    return cell.status != RECORD_FAILED || !strstr(cell.reason, "overlap, round");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        size_t rows; /* of the large batch; with "all" it has 1024 */
    } workloads[] = {{"tutorial", 1024},
                     {"mlp:512,512", 1024},
                     {"mlp:64,64,64,64", 1024},
                     {"mlp:512,4,512", 1024},
                     {"blocks", 1024},
                     {"mixed", 1024},
                     {"cnn", 64},
                     {"rnn", 64},
                     {"lstm", 64},
                     {"capsnet", 64},
                     {"resnet", 64}};
    int wrong = try_last(), cells = 0;

    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        all_faults = true;
        --argc;
        ++argv;
    }
    for (size_t w = 0; w < sizeof workloads / sizeof workloads[0]; ++w) {
        const size_t batches[] = {2, all_faults ? 1024 : workloads[w].rows};

        if (argc > 1 && strcmp(argv[1], workloads[w].name) != 0)
            continue;
        for (size_t b = 0; b < sizeof batches / sizeof batches[0]; ++b)
            for (enum cell_mode mode = CELL_PLAIN; mode < CELL_MODES; ++mode) {
                if (mode == CELL_DDP && strcmp(workloads[w].name, "mixed") == 0)
                    continue; /* is in part on the host */
                if (mode == CELL_PLAIN_MT)
                    continue; /* plain, but for threads that these products do not have */
                if (mode == CELL_COLLECTIVE)
                    continue; /* has no products */
                wrong += try_cell(workloads[w].name, mode, batches[b]);
                ++cells;
            }
    }
    printf("%d cells, each honest and with %s faults: %d wrong verdicts\n", cells,
           all_faults ? "all" : "the finest", wrong);
    return wrong != 0 || cells == 0;
}
