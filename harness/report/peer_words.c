/* report/peer_words.c: what the page and summary.md say about a comparison with PyTorch. */
#include "report/page.h"
#include "report/peer_report.h"

#include <math.h>
#include <string.h>

#include "descriptor.h"

/* Processes that ran besides the comparison. */
static const double BUSY = 0.5;

const char *const peer_step_names[PEER_STEP_COLUMNS] = {
    "Program", "Median step", "[interval] or range", "Outside matrix products", "Launches"};
const char *const peer_ratio_names[PEER_RATIO_COLUMNS] = {
    "Ratio of steps", "Median", "[interval] or range", "Pairs", "Fastest of several"};

void peer_version_names(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "PyTorch %s", record->pytorch.torch);
    for (size_t i = 0; i < record->n_beside; ++i)
        report_add(text, "%s%s", i + 1 < record->n_beside ? ", " : " and ",
                   record->beside[i].torch);
}

void peer_title_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    char names[REPORT_CELL_TEXT];

    peer_version_names(record, names);
    text[0] = '\0';
    report_add(text, "Beside %s, ", names);
    if (!peer_is_on_gpus(record))
        report_add(text, "DistributedDataParallel over gloo");
    else if (strcmp(peer_parallel_name(&record->cell[0]), "DP") == 0)
        report_add(text, "DataParallel on GPUs");
    else
        report_add(text, "DataParallel, and DistributedDataParallel over NCCL, on GPUs");
    if (peer_is_tf32(record))
        report_add(text, ", in TF32");
}

void peer_cell_words(const struct peer_cell *cell, char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "%s, batch %zu", cell->workload, cell->batch);
}

static bool has_several_versions(const struct peer_cell *cell)
{
    const char *first = NULL;

    for (size_t a = 0; a < cell->n_arms; ++a) {
        const char *torch = cell->arm[a].torch;

        if (torch[0] != '\0' && first && strcmp(torch, first) != 0)
            return true;
        first = torch[0] != '\0' ? torch : first;
    }
    return false;
}

/* Rows of a device, as many as the first has. */
static size_t rows_of(const struct peer_cell *cell, int devices)
{
    return cell->batch / (size_t)devices + (cell->batch % (size_t)devices != 0);
}

/* What is there, before the number of devices, and what they are. */
static const struct {
    const char *name, *on;
} kinds[PEER_KINDS] = {
    [PEER_LOCKSTEP_DP] = {"lockstep DataParallel", "device"},
    [PEER_LOCKSTEP_DDP] = {"lockstep DDP", "device"},
    [PEER_LOCKSTEP_DDP_NCCL] = {"lockstep DDP over NCCL", "GPU"},
    [PEER_LOCKSTEP_PROCESSES] = {"lockstep DDP over MPI", "process"},
    [PEER_LOCKSTEP_PLAIN] = {"lockstep plain", "device"},
    [PEER_PYTORCH_DDP] = {"PyTorch DDP over gloo, tuned", "process"},
    [PEER_PYTORCH_DDP_DEFAULT] = {"PyTorch DDP over gloo, as it comes", "process"},
    [PEER_PYTORCH_DDP_NCCL] = {"PyTorch DDP over NCCL, tuned", "GPU"},
    [PEER_PYTORCH_DDP_NCCL_DEFAULT] = {"PyTorch DDP over NCCL, as it comes", "GPU"},
    [PEER_PYTORCH_DP] = {"PyTorch DataParallel", "GPU"},
    [PEER_PYTORCH_PLAIN] = {"PyTorch plain", "process"},
    [PEER_PYTORCH_STEPS] = {"PyTorch plain, attention in steps", "process"},
    [PEER_PYTORCH_COMPILED] = {"PyTorch plain by torch.compile", "process"},
    [PEER_PYTORCH_PRODUCTS] = {"torch.mm alone", NULL},
    [PEER_PYTORCH_MATMUL] = {"torch.mm alone", NULL},
    [PEER_LLMC_STEP] = {"llm.c", "thread"},
};

void peer_arm_words(const struct peer_arm *arm, const struct peer_cell *cell,
                    char text[PEER_ARM_TEXT])
{
    const char *on = kinds[arm->kind].on, *name = kinds[arm->kind].name;
    const int n = arm->devices;
    size_t length;

    if (arm->kind == PEER_PYTORCH_PRODUCTS)
        snprintf(text, PEER_ARM_TEXT, "%s, %d x %zu rows", name, n, rows_of(cell, n));
    else if (!on)
        snprintf(text, PEER_ARM_TEXT, "%s, %zu rows", name, rows_of(cell, n));
    else
        snprintf(text, PEER_ARM_TEXT, "%s, %d %s%s", name, n, on,
                 n == 1                       ? ""
                 : strcmp(on, "process") == 0 ? "es"
                                              : "s");
    length = strlen(text);
    if (arm->torch[0] != '\0' && has_several_versions(cell))
        snprintf(text + length, PEER_ARM_TEXT - length, " (%s)", arm->torch);
}

static void launch_words(const struct peer_arm *arm, char text[REPORT_CELL_TEXT])
{
    if (arm->absent[0] != '\0') {
        snprintf(text, REPORT_CELL_TEXT, "absent: %s", arm->absent);
        return;
    }
    snprintf(text, REPORT_CELL_TEXT, "%zu", arm->n - arm->failed);
    if (arm->wrong)
        report_add(text, ", WRONG NUMBERS, not reported: %s", arm->reason);
    else if (arm->failed > 0)
        report_add(text, ", %zu FAILED: %s", arm->failed, arm->reason);
}

void peer_step_words(const struct peer_cell *cell, const struct peer_arm *arm, int column,
                     char text[REPORT_CELL_TEXT])
{
    const struct report_value step = peer_step(arm);
    char words[PEER_ARM_TEXT];

    text[0] = '\0';
    switch (column) {
    case 0:
        peer_arm_words(arm, cell, words);
        report_add(text, "%s", words);
        break;
    case 1:
        report_time(step.middle, words);
        report_add(text, "%s", words);
        break;
    case 2:
        report_add_range(text, &step, report_time);
        break;
    case 3:
        report_add_share(text, peer_outside(arm).middle);
        break;
    default:
        launch_words(arm, text);
    }
}

void peer_ratio_words(const struct peer_cell *cell, const struct peer_comparison *one, int column,
                      char text[REPORT_CELL_TEXT])
{
    char words[PEER_ARM_TEXT] = "-";

    text[0] = '\0';
    switch (column) {
    case 0:
        report_add(text, "%s", one->name);
        break;
    case 1:
        report_add_ratio(text, one->value.middle);
        break;
    case 2:
        report_add_range(text, &one->value, report_ratio);
        break;
    case 3:
        report_add(text, "%zu", one->value.n);
        break;
    default:
        if (one->fastest)
            peer_arm_words(one->fastest, cell, words);
        if (one->of > 0)
            report_add(text, "%s%s, in %zu of %zu",
                       peer_is_lockstep(one->fastest) ? "those of " : "", words, one->rounds,
                       one->of);
        else
            report_add(text, "%s", words);
    }
}

/* "0.45 [0.44, 0.47]". */
static void ratio_words(const struct report_value *ratio, char text[REPORT_CELL_TEXT])
{
    if (!isfinite(ratio->middle)) {
        report_add(text, "an unknown part");
        return;
    }
    report_add_ratio(text, ratio->middle);
    if (ratio->range == REPORT_NONE)
        return;
    report_add(text, ratio->range == REPORT_INTERVAL ? " " : " (");
    report_add_range(text, ratio, report_ratio);
    report_add(text, ratio->range == REPORT_INTERVAL ? "" : ")");
}

/* Whether an earlier cell lacks the same for the same reason. */
static bool is_said(const struct peer_record *record, size_t cells, const struct peer_arm *arm)
{
    for (size_t c = 0; c < cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct peer_arm *other = &record->cell[c].arm[a];

            if (other->kind == arm->kind && strcmp(other->torch, arm->torch) == 0 &&
                strcmp(other->absent, arm->absent) == 0)
                return true;
        }
    return false;
}

static void say_absent(struct text_out *out, const struct peer_record *record)
{
    char words[PEER_ARM_TEXT];

    for (size_t c = 0; c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct peer_arm *arm = &record->cell[c].arm[a];

            if (arm->absent[0] == '\0' || is_said(record, c, arm))
                continue;
            peer_arm_words(arm, &record->cell[c], words);
            text_print(out, " Absent: %s: %s.", words, arm->absent);
        }
}

void report_peer_verdict(struct text_out *out, const struct peer_record *record)
{
    const size_t failed = peer_failed(record);
    struct peer_comparison list[PEER_COMPARISONS];

    text_print(out, "on %d device%s of the same machine%s, a step of lockstep takes ",
               record->devices, record->devices == 1 ? "" : "s",
               peer_is_tf32(record) ? ", in TF32 on both sides" : "");
    for (size_t c = 0; c < record->n_cells; ++c) {
        char text[REPORT_CELL_TEXT] = "";

        peer_compare(record, &record->cell[c], list);
        ratio_words(&list[0].value, text);
        text_print(out, "%s%s%s (%s, batch %zu)", c == 0 ? "" : ", ", text,
                   c == 0 ? " of the time of PyTorch's fastest program" : "",
                   record->cell[c].workload, record->cell[c].batch);
    }
    text_print(out, ".");
    say_absent(out, record);
    if (failed > 0)
        text_print(out, " %zu launches FAILED.", failed);
    if (record->load_start > BUSY)
        text_print(out, " The machine was busy at the start (see its load): these times say "
                        "little, and PyTorch's processes suffer more from it.");
    if (record->oversubscribed)
        text_print(out, " There are more devices than cores: no evidence of scaling.");
    if (!record->complete)
        text_print(out, " The comparison was not finished.");
}

/* What the steps with one kind of range have in common; most 0: there are none. */
struct span {
    size_t fewest, most; /* launches */
    double coverage;     /* the least */
};

static struct span span_of(const struct peer_record *record, enum report_range range)
{
    struct span span = {.coverage = 1.0};

    for (size_t c = 0; c < record->n_cells; ++c)
        for (size_t a = 0; a < record->cell[c].n_arms; ++a) {
            const struct report_value step = peer_step(&record->cell[c].arm[a]);

            if (step.range != range)
                continue;
            span.fewest = span.most == 0 || step.n < span.fewest ? step.n : span.fewest;
            span.most = step.n > span.most ? step.n : span.most;
            span.coverage = fmin(span.coverage, step.coverage);
        }
    return span;
}

static void add_launches(char text[REPORT_CELL_TEXT], const struct span *span)
{
    if (span->fewest < span->most)
        report_add(text, "%zu to ", span->fewest);
    report_add(text, "%zu launches", span->most);
}

void report_peer_caption(struct text_out *out, const struct peer_record *record)
{
    const struct span interval = span_of(record, REPORT_INTERVAL);
    const struct span range = span_of(record, REPORT_LAUNCHES);
    char text[REPORT_CELL_TEXT] = "";

    text_print(out, "Ratios of step times, lockstep over PyTorch, a panel per workload and batch: "
                    "the median over rounds of the ratio of the median steps of two launches");
    if (interval.most > 0) {
        report_add(
            text,
            ", with its interval by order statistics (%.1f\u00a0%% or more, of launches that are "
            "independent, in this sitting; ",
            100 * interval.coverage);
        add_launches(text, &interval);
        report_add(text, ")");
    }
    if (range.most > 0) {
        report_add(text, "%s with the range of ", interval.most > 0 ? ", or" : ",");
        add_launches(text, &range);
        report_add(text, ", too few for an interval");
    }
    if (interval.most + range.most == 0)
        report_add(text, "; one launch shows no spread");
    text_print(
        out,
        "%s. Left of 1 lockstep's step is the shorter one. Ticks: limits, which a ratio "
        "keeps (MET) or not (MISSED) only where its whole interval does; else it is OPEN. Of "
        "PyTorch's programs that do the same the fastest counts: the table of ratios names it.",
        text);
}

static bool rounds(const struct workload *workload)
{
    return workload->is->peer && !workload_is_exact(workload);
}

void peer_checked_words(const struct peer_record *record, char text[REPORT_CELL_TEXT])
{
    char names[160];

    workload_names(rounds, names, sizeof names);
    text[0] = '\0';
    report_add(text,
               "Every step of every launch was checked, PyTorch's against a float64 model of its "
               "own on the same data: models that round (%s) within derived bounds, the others bit "
               "for bit; an arm that left a wrong number is not reported. Launches are fresh "
               "processes, in rounds of random order; ratios are paired by round.",
               names);
    if (peer_is_tf32(record))
        report_add(text, " In TF32 numbers of exact models fit its 11 bits, and bounds are wider "
                         "by what that model changes when operands are moved by the most that TF32 "
                         "may move them.");
}

static void version_words(const struct peer_versions *of, char text[REPORT_CELL_TEXT])
{
    report_add(text, "%s, python %s, %s%s%s", of->torch, of->python, of->torch_blas,
               of->gloo[0] != '\0' ? ", " : "", of->gloo);
}

void peer_setting_words(const struct peer_record *record, int which, char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    switch (which) {
    case 0:
        report_add(
            text,
            "%s; %zu cores, %zu processing units (%zu usable); node %s; %s; governor %s; load "
            "%.2f at the start, %.2f at the end",
            record->cpu_model, record->cores, record->pus, record->usable_pus, record->node_hash,
            record->kernel, record->governor, record->load_start, record->load_end);
        break;
    case 1:
        version_words(&record->pytorch, text);
        for (size_t i = 0; i < record->n_beside; ++i) {
            report_add(text, "; beside it ");
            version_words(&record->beside[i], text);
        }
        break;
    case 2:
        report_add(text, "%s (%s build), commit %s%s, %s", record->lockstep, record->build_type,
                   record->git_sha, record->git_dirty ? " with uncommitted changes" : "",
                   record->lockstep_blas);
        break;
    case 3:
        report_add(text, "%s%s%s%s%s%s", peer_is_on_gpus(record) ? "" : "DDP tuned: ", record->ddp,
                   record->sgd[0] != '\0' ? "; SGD " : "", record->sgd,
                   record->environment[0] != '\0' ? "; " : "", record->environment);
        break;
    case 4:
        report_add(text, "%s (%s)", record->step_time, record->clock);
        break;
    default:
        report_add(text, "%s; %g s or more measured; %s; seed %s, %zu launches%s",
                   record->warmup_rule, record->seconds, record->created_utc, record->seed,
                   record->launches, record->complete ? "" : ", NOT FINISHED");
    }
}

const char *const peer_setting_names[PEER_SETTINGS] = {"Machine",  "PyTorch",        "Lockstep",
                                                       "Settings", "Time of a step", "Rounds"};
