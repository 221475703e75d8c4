/* sweep/limits_write.c: the limits, and how far the parts of a step are from them: in lines of 80
 * columns, as tab-separated values with a line for each fact, and as JSON (lockstep/limits/1.0),
 * which `lockstep report --limits` reads. JSON has only what was measured and counted: its reader
 * makes the shares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "machine/machine.h"
#include "measure/measure.h"
#include "record/json.h"
#include "sweep/limits.h"
#include "text/alloc.h"

static const char *const rate_names[ROOF_RATES] = {
    [ROOF_FMA] = "multiply-adds", [ROOF_READ] = "memory read", [ROOF_COPY] = "memory copied"};
static const char *const share_names[LIMITS_SHARES] = {[LIMITS_PRODUCTS] = "products",
                                                       [LIMITS_OTHERS] = "other kernels",
                                                       [LIMITS_TRANSFERS] = "transfers",
                                                       [LIMITS_REST] = "none of them"};

/* "nt": which of the operands is transposed. */
static const char *transposes(const struct dp_kernel_row *row)
{
    static const char *const names[2][2] = {{"nn", "nt"}, {"tn", "tt"}};

    if (strncmp(row->name, "convolution", 11) == 0)
        return row->name[11] == '\0' ? "conv" : "grad";
    return row->product ? names[row->transpose_a][row->transpose_b] : "";
}

/* Operations of a product per nanosecond; 0: not known. */
static double product_rate(const struct limits_steps *s, int part)
{
    const struct dp_kernel_row *r = &s->part[part];
    const double work = 2.0 * (double)r->multiplies * (double)s->count[part];
    const double ns = s->mean[LIMITS_PART + part];

    return r->product && ns > 0 ? work / ns : 0;
}

/* ---- operations and bytes of a phase, and of a product by itself ----------------------------- */

static struct roof_range range_of(const struct limits_steps *s, int kind)
{
    return (struct roof_range){s->mean[kind], s->lo[kind], s->hi[kind]};
}

static struct roof_work product_work(const struct limits_steps *s, int part)
{
    const struct dp_kernel_row *r = &s->part[part];
    const double count = (double)s->count[part];

    return (struct roof_work){.kind = ROOF_COMPUTES,
                              .flops = 2 * count * (double)r->multiplies,
                              .bytes = count * (double)r->bytes,
                              .ns = range_of(s, LIMITS_PART + part)};
}

static struct roof_work phase_work(const struct limits_workload *w, enum dp_phase phase)
{
    /* Value and gradient are read, and the value is written; AdamW has two states, too. */
    enum { SGD_BYTES = 12, ADAMW_BYTES = 28 };
    const struct workload_end *end = workload_end(&w->workload);
    const struct limits_steps *s = &w->way[ROOF_AT_ONCE];
    struct roof_work work = {.kind = ROOF_COMPUTES, .ns = range_of(s, LIMITS_PHASE + (int)phase)};

    if (phase == DP_PHASE_UPDATE) {
        work.kind = ROOF_UPDATES;
        work.bytes = (double)workload_params(&w->workload) * (end->adamw ? ADAMW_BYTES : SGD_BYTES);
    } else if (phase != DP_PHASE_FORWARD && phase != DP_PHASE_BACKWARD && phase != DP_PHASE_LOSS) {
        work.kind = ROOF_CARRIES;
        work.bytes = s->phase_bytes[phase];
    }
    for (int i = 0; i < s->n_parts && work.kind == ROOF_COMPUTES; ++i)
        if (s->part[i].product && s->part[i].phase == phase) {
            const struct roof_work product = product_work(s, i);

            work.flops += product.flops;
            work.bytes += product.bytes;
        }
    return work;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A kernel of a step in both ways: its part in each; -1: it is not in that one. */
struct kernel {
    const struct dp_kernel_row *row;
    enum dp_lane lane;
    size_t count;
    int part[ROOF_WAYS];
};
enum { MOST_KERNELS = ROOF_WAYS * LIMITS_PARTS };

/* The kernels of a step at once, then those that are only in the one alone. Returns their number.
 */
static int list_kernels(const struct limits_workload *w, struct kernel kernels[MOST_KERNELS])
{
    int n = 0;

    for (int way = ROOF_WAYS - 1; way >= 0; --way) {
        const struct limits_steps *s = &w->way[way];

        for (int i = 0; i < s->n_parts; ++i) {
            struct kernel kernel = {&s->part[i], s->lane[i], (size_t)s->count[i], {i, i}};
            const int other = limits_find(&w->way[1 - way], kernel.row, kernel.lane);

            kernel.part[1 - way] = other;
            if (way == ROOF_AT_ONCE || other < 0)
                kernels[n++] = kernel;
        }
    }
    return n;
}

/* ms, GFLOP/s and its part of the peak. */
/* There is no number of the last column of a way. */
enum { LAST_COLUMN = 6 };

static void print_time(const struct limits_workload *w, int way, double ns)
{
    printf("%*s %9.3f %8.1f", way * LAST_COLUMN, "", ns / 1e6,
           100 * ns / w->way[way].mean[LIMITS_STEP]);
}

/* Prints the products, with their rates, and then the other kernels. */
static void print_kernels(const struct limits *l, const struct limits_workload *w)
{
    struct kernel kernels[MOST_KERNELS];
    const int n = list_kernels(w, kernels);

    printf("\n%s, batch %zu; alone %zu row%s\n", w->workload.name, w->rows,
           w->way[ROOF_ALONE].config.rows, text_s(w->way[ROOF_ALONE].config.rows));
    printf("%-22s %5s %9s %8s %5s %9s %8s %5s\n", "Product m x n x k", "count", "ms alone",
           "GFLOP/s", "%", "at once", "GFLOP/s", "%");
    for (int k = 0; k < n; ++k) {
        const struct dp_kernel_row *r = kernels[k].row;
        char shape[40];

        if (!r->product)
            continue;
        snprintf(shape, sizeof shape, "%zux%zux%zu %s", r->m, r->n, r->k, transposes(r));
        printf("%-22s %5zu", shape, kernels[k].count);
        for (int way = 0; way < ROOF_WAYS; ++way) {
            const int part = kernels[k].part[way];
            const double rate = part < 0 ? 0 : product_rate(&w->way[way], part);

            if (part < 0)
                printf(" %9s %8s %5s", "-", "-", "-");
            else
                printf(" %9.3f %8.1f %5.1f", w->way[way].mean[LIMITS_PART + part] / 1e6, rate,
                       100 * rate / l->roof.rate[ROOF_FMA][way].middle);
        }
        printf("\n");
    }
    printf("%-22s %5s %9s %8s %5s %9s %8s\n", "Other kernel", "", "", "% step", "", "", "% step");
    for (int k = 0; k < n; ++k) {
        if (kernels[k].row->product)
            continue;
        printf("%-22.22s %5zu", kernels[k].row->words, kernels[k].count);
        for (int way = 0; way < ROOF_WAYS; ++way)
            if (kernels[k].part[way] < 0)
                printf("%*s %9s %8s", way * LAST_COLUMN, "", "-", "-");
            else
                print_time(w, way, w->way[way].mean[LIMITS_PART + kernels[k].part[way]]);
        printf("\n");
    }
}

static void print_workload(const struct limits *l, const struct limits_workload *w)
{
    print_kernels(l, w);
    for (int way = 0; way < ROOF_WAYS; ++way)
        if (w->way[way].mean[LIMITS_LOST] > 0)
            printf("More kinds of kernels than are kept %s: %.3f ms among the other kernels\n",
                   way == ROOF_ALONE ? "alone" : "at once", w->way[way].mean[LIMITS_LOST] / 1e6);
    /* GFLOP/s of a phase with products, GB/s of one that moves, and the part of its limit. */
    const double step = w->way[ROOF_AT_ONCE].mean[LIMITS_STEP];

    printf("\n%-13s %9s %8s %9s %8s %8s %5s %s\n", "Phase at once", "ms", "% step", "MB", "GFLOP/s",
           "GB/s", "%", "of");
    for (int p = 0; p < DP_PHASES; ++p) {
        const struct roof_work work = phase_work(w, (enum dp_phase)p);
        const struct roof_share share = roof_share(&l->roof, &work);
        const double ns = work.ns.middle;

        printf("%-13s %9.3f %8.1f", measure_phase_names[p], ns / 1e6, 100 * ns / step);
        if (share.bound != ROOF_UNKNOWN && work.flops > 0)
            printf(" %9.3f %8.1f %8s", work.bytes / 1e6, work.flops / ns, "");
        else if (share.bound != ROOF_UNKNOWN)
            printf(" %9.3f %8s %8.1f", work.bytes / 1e6, "", work.bytes / ns);
        if (share.bound != ROOF_UNKNOWN)
            printf(" %5.0f %s", 100 * share.share, roof_bound_words[share.bound]);
        printf("\n");
    }
    printf("\n%-22s %5s", "Step", "");
    for (int way = 0; way < ROOF_WAYS; ++way)
        print_time(w, way, w->way[way].mean[LIMITS_STEP]);
    printf("\n");
    for (int share = 0; share < LIMITS_SHARES; ++share) {
        printf("  %-20s %5s", share_names[share], "");
        for (int way = 0; way < ROOF_WAYS; ++way)
            print_time(w, way, limits_share(&w->way[way], (enum limits_share)share));
        printf("\n");
    }
    printf("  %-20s %5s", "step / products", "");
    for (int way = 0; way < ROOF_WAYS; ++way) {
        const double products = limits_share(&w->way[way], LIMITS_PRODUCTS);

        printf("%*s %9.3f", way * (LAST_COLUMN + 9), "",
               products > 0 ? w->way[way].mean[LIMITS_STEP] / products : 0);
    }
    printf("\n");
}

void limits_print(const struct limits *l)
{
    size_t values = 0;

    char text[640], blas[160];

    dp_group_blas(l->group, blas, sizeof blas);
    snprintf(text, sizeof text, "%s, %s; products by %s", l->machine.cpu_model,
             l->ceilings.peak->name, blas);
    command_wrap(stdout, text, 0, 2, 80);
    snprintf(
        text, sizeof text, "%s, backend %s, communicator %s; %zu rounds%s", l->options->devices,
        l->options->backend, dp_group_communicator(l->group), l->options->rounds,
        dp_group_oversubscribed(l->group) ? "; more devices than cores: times mean little" : "");
    command_wrap(stdout, text, 0, 2, 80);
    printf("\nOf a core                 alone        (range)      at once        (range)\n");
    for (int r = 0; r < ROOF_RATES; ++r) {
        printf("%-13s %7s", rate_names[r], r == ROOF_FMA ? "GFLOP/s" : "GB/s");
        for (int way = 0; way < ROOF_WAYS; ++way) {
            const struct roof_range *s = &l->roof.rate[r][way];

            printf("  %8.1f (%6.1f .. %6.1f)", s->middle, s->lo, s->hi);
        }
        printf("\n");
    }
    for (int i = 0; i < l->n; ++i) {
        print_workload(l, &l->workload[i]);
        for (int way = 0; way < ROOF_WAYS; ++way)
            values += l->workload[i].way[way].values;
    }
    printf("\nAlone: the model on the first device, with its shard of the batch. At once: in\n"
           "the wrapper on all devices; times of the first one, of phases the longest. A\n"
           "step: the mean of the middle half. %% of products: of the multiply-adds of a\n"
           "core; of phases: of the limit named, above 100 where caches hold the data. MB:\n"
           "operands and results of products, of an update 12 or 28 bytes a parameter, else\n"
           "what crossed devices. None of them: waiting, dispatch.\n"
           "%zu values compared, all right.\n",
           values);
}

/* ---- tab-separated values -------------------------------------------------------------------- */

/* The numbers of each way; one that is not known is NaN. */
struct numbers {
    double ns, rate, lo, hi, part;
};

/* A line. w: NULL for a ceiling. row: NULL for what is no kernel. */
static void print_fact(const struct limits *l, const struct limits_workload *w, const char *section,
                       const char *name, const struct dp_kernel_row *row, size_t count,
                       double bytes, const struct numbers way[ROOF_WAYS])
{
    printf("%s\t%s\t%s\t%s\t%s\t%zu\t%zu\t%s\t", section, l->options->devices, l->options->backend,
           l->ceilings.peak->name, w ? w->workload.name : "", w ? w->rows : 0, l->options->rounds,
           name);
    if (row && row->product)
        printf("%zux%zux%zu\t%s", row->m, row->n, row->k, transposes(row));
    else
        printf("\t");
    printf("\t%zu\t%.0f", count, bytes);
    for (int i = 0; i < ROOF_WAYS; ++i)
        printf("\t%.1f\t%.9g\t%.9g\t%.9g\t%.6f", way[i].ns, way[i].rate, way[i].lo, way[i].hi,
               way[i].part);
    printf("\n");
}

static const struct numbers unknown = {(double)NAN, (double)NAN, (double)NAN, (double)NAN,
                                       (double)NAN};

static void print_tsv_kernels(const struct limits *l, const struct limits_workload *w)
{
    struct kernel kernels[MOST_KERNELS];
    const int n = list_kernels(w, kernels);

    for (int k = 0; k < n; ++k) {
        const struct dp_kernel_row *row = kernels[k].row;
        const char *section = row->product                          ? "product"
                              : kernels[k].lane == DP_LANE_TRANSFER ? "transfer"
                                                                    : "kernel";
        struct numbers numbers[ROOF_WAYS] = {unknown, unknown};

        for (int way = 0; way < ROOF_WAYS; ++way) {
            const struct limits_steps *s = &w->way[way];
            const int part = kernels[k].part[way];

            if (part < 0)
                continue;
            numbers[way].ns = s->mean[LIMITS_PART + part];
            numbers[way].part = numbers[way].ns / s->mean[LIMITS_STEP];
            if (s->part[part].product) {
                numbers[way].rate = product_rate(s, part);
                numbers[way].part = numbers[way].rate / l->roof.rate[ROOF_FMA][way].middle;
            }
        }
        print_fact(l, w, section, row->name, row, kernels[k].count, 0, numbers);
    }
}

static void print_tsv_phases(const struct limits *l, const struct limits_workload *w)
{
    for (int p = 0; p < DP_PHASES; ++p) {
        struct numbers numbers[ROOF_WAYS] = {unknown, unknown};
        const struct roof_work work = phase_work(w, (enum dp_phase)p);
        const struct roof_share share = roof_share(&l->roof, &work);

        numbers[ROOF_AT_ONCE].ns = work.ns.middle;
        if (share.bound != ROOF_UNKNOWN) {
            numbers[ROOF_AT_ONCE].rate =
                (work.flops > 0 ? work.flops : work.bytes) / work.ns.middle;
            numbers[ROOF_AT_ONCE].part = share.share;
        }
        print_fact(l, w, "phase", measure_phase_names[p], NULL, 0, work.bytes, numbers);
    }
    for (int share = -1; share < LIMITS_SHARES; ++share) {
        struct numbers numbers[ROOF_WAYS] = {unknown, unknown};

        for (int way = 0; way < ROOF_WAYS; ++way) {
            const struct limits_steps *s = &w->way[way];

            numbers[way].ns =
                share < 0 ? s->mean[LIMITS_STEP] : limits_share(s, (enum limits_share)share);
            numbers[way].part = numbers[way].ns / s->mean[LIMITS_STEP];
        }
        print_fact(l, w, "step", share < 0 ? "step" : share_names[share], NULL, 0, 0, numbers);
    }
}

void limits_print_tsv(const struct limits *l)
{
    printf("section\tdevices\tbackend\tinstructions\tworkload\tbatch\trounds\tname\tshape\t"
           "transposes\tcount\tbytes");
    for (int way = 0; way < ROOF_WAYS; ++way) {
        const char *name = way == ROOF_ALONE ? "alone" : "once";

        printf("\t%s_ns\t%s_rate\t%s_lo\t%s_hi\t%s_part", name, name, name, name, name);
    }
    printf("\n");
    for (int r = 0; r < ROOF_RATES; ++r) {
        struct numbers numbers[ROOF_WAYS] = {unknown, unknown};

        for (int way = 0; way < ROOF_WAYS; ++way) {
            numbers[way].rate = l->roof.rate[r][way].middle;
            numbers[way].lo = l->roof.rate[r][way].lo;
            numbers[way].hi = l->roof.rate[r][way].hi;
        }
        print_fact(l, NULL, "ceiling", rate_names[r], NULL, 0,
                   r == ROOF_FMA ? 0 : (double)l->ceilings.bytes, numbers);
    }
    for (int i = 0; i < l->n; ++i) {
        print_tsv_kernels(l, &l->workload[i]);
        print_tsv_phases(l, &l->workload[i]);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *range(struct roof_range r)
{
    return json_pack("[f, f, f]", r.middle, r.lo, r.hi);
}

static json_t *products(const struct limits_steps *s)
{
    json_t *list = json_array();

    for (int i = 0; i < s->n_parts; ++i) {
        const struct dp_kernel_row *r = &s->part[i];
        const struct roof_work work = product_work(s, i);
        char shape[64];

        if (!r->product || !(work.ns.lo > 0))
            continue;
        snprintf(shape, sizeof shape, "%zux%zux%zu %s", r->m, r->n, r->k, transposes(r));
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:I, s:o, s:f, s:f}", "shape", shape, "phase",
                                        r->phase < DP_PHASES ? measure_phase_names[r->phase] : "",
                                        "count", (json_int_t)s->count[i], "ns", range(work.ns),
                                        "flops", work.flops, "bytes", work.bytes));
    }
    return list;
}

static json_t *workloads(const struct limits *l)
{
    json_t *list = json_array();

    for (int i = 0; i < l->n; ++i) {
        const struct limits_workload *w = &l->workload[i];
        const struct limits_steps *s = &w->way[ROOF_AT_ONCE];
        json_t *phases = json_array();

        for (int p = 0; p < DP_PHASES; ++p) {
            const struct roof_work work = phase_work(w, (enum dp_phase)p);

            if (work.ns.lo > 0) /* of one device some phases do not take place */
                json_array_append_new(
                    phases, json_pack("{s:s, s:o, s:f, s:f}", "phase", measure_phase_names[p], "ns",
                                      range(work.ns), "flops", work.flops, "bytes", work.bytes));
        }
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:f, s:o, s:o}", "workload",
                                              w->workload.name, "batch", (json_int_t)w->rows,
                                              "rows", (json_int_t)w->way[ROOF_ALONE].config.rows,
                                              "step_ns", s->mean[LIMITS_STEP], "phases", phases,
                                              "products", products(s)));
    }
    return list;
}

int limits_print_json(const struct limits *l)
{
    struct record_run *run = cli_alloc(1, sizeof *run);
    char *document = NULL;

    if (provenance_read(l->group, &l->machine, run) == 0) {
        json_t *ceilings = json_object();

        for (int r = 0; r < ROOF_RATES; ++r)
            json_object_set_new(ceilings, roof_rate_keys[r],
                                json_pack("{s:o, s:o}", roof_way_keys[ROOF_ALONE],
                                          range(l->roof.rate[r][ROOF_ALONE]),
                                          roof_way_keys[ROOF_AT_ONCE],
                                          range(l->roof.rate[r][ROOF_AT_ONCE])));
        document = document_text(
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:b, s:o, s:o}",
                      "schema", "lockstep/limits/1.0", "created_utc", run->created_utc, "git_sha",
                      run->git_sha, "node_hash", run->node_hash, "machine_class",
                      run->machine_class, "cpu_model", run->cpu_model, "blas", run->blas, "devices",
                      l->options->devices, "backend", l->options->backend, "instructions",
                      l->ceilings.peak->name, "n_devices", l->roof.devices, "rounds",
                      (json_int_t)l->options->rounds, "oversubscribed",
                      dp_group_oversubscribed(l->group) ? 1 : 0, "ceilings", ceilings, "workloads",
                      workloads(l)),
            JSON_REAL_PRECISION(9));
    }
    free(run);
    if (!document)
        return -1;
    printf("%s\n", document);
    free(document);
    return 0;
}
