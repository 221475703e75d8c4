/* measure/model.c: steps of a model: warm-up, and measured steps.
 *
 * The first step is that of a probe (measure/probe_step.c), which fails if operands or results are
 * rounded more than they may. Then steps alternate between two parameter sets and batches. The
 * results of each step are checked (measure/step_result.c), so the timed steps are the verified
 * ones. With a chain (measure/chain.c) a measured sample is a chain of steps, and its time is
 * divided by their number.
 *
 * A GPU times phases by events in its queues, which take time themselves. So there a separate step
 * before each sample measures the phases, and the sample is not traced. Only the first results of
 * each set go to the host there: later ones are compared by digests that the devices compute
 * (measure/marks.c). */
#include "measure/measure.h"
#include "text/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct measure {
    const struct cell_config *config;
    struct record_cell *cell;
    FILE *trace; /* NULL: not asked for */
    struct session session;
    struct chain chain;        /* length 0: none */
    struct cell_limits limits; /* of samples */
    bool untraced;             /* samples have no phases */
    bool apart;                /* a separate step before each sample measures its phases */
    struct step_result left;
    struct workload_set set[WORKLOAD_SETS];
    size_t measured[WORKLOAD_SETS]; /* steps after warm-up */
    struct steps steps;
};

static const int phase_of[DP_PHASES] = {
    [DP_PHASE_SCATTER] = RECORD_SCATTER,   [DP_PHASE_REPLICATE] = RECORD_REPLICATE,
    [DP_PHASE_FORWARD] = RECORD_FORWARD,   [DP_PHASE_GATHER] = RECORD_GATHER,
    [DP_PHASE_BACKWARD] = RECORD_BACKWARD, [DP_PHASE_REDUCE] = RECORD_REDUCE,
    [DP_PHASE_LOSS] = RECORD_LOSS,         [DP_PHASE_UPDATE] = RECORD_UPDATE};

/* Stores the phases of the next sample; the trace is the sum over that many steps. */
static void note_phases(struct measure *m, size_t steps)
{
    struct record_cell *cell = m->cell;
    const size_t step = m->steps.n;

    for (int phase = 0; phase < DP_PHASES; ++phase)
        for (int r = 0; r < cell->n_ranks; ++r)
            cell->phase_ns[phase_of[phase]][(size_t)r * cell->n_samples + step] =
                m->session.trace.replica[r].ns[phase] / steps;
    for (int r = 0; r < cell->n_ranks; ++r)
        cell->matmul_ns[(size_t)r * cell->n_samples + step] = m->session.trace.matmul_ns[r] / steps;
}

/* Runs and times a step of set k, which is traced or not. The times are those of all processes. */
static int time_step(struct measure *m, int k, bool traced, struct session_times *times,
                     struct dp_error *err)
{
    struct session *s = &m->session;
    int status;

    if (m->apart)
        session_set_traced(s, traced);
    if ((status = session_prepare(s, k, err)) || (status = session_step(s, k, times, err)) ||
        (status = session_trace(s, err)))
        return status;
    return session_share(s, times, err);
}

static int run_chain(struct measure *m)
{
    const size_t sample = m->steps.n;
    const int k = (int)(sample % WORKLOAD_SETS);
    struct session_times times = {0};
    struct dp_error err = {0};
    char reason[sizeof m->cell->reason];
    uint64_t begin_ns;
    int status;

    if (chain_run(&m->chain, k, &times, &err) == 0) {
        note_phases(m, m->chain.length);
        steps_note(&m->steps, times.start_ns, times.step_ns / m->chain.length, false);
        begin_ns = watch_clock_ns();
        ++m->measured[k];
        ++m->cell->steps_checked;
        chain_check(&m->chain, k, &err);
        m->cell->verify_ns += watch_clock_ns() - begin_ns;
    }
    if (err.status == 0)
        return 0;
    snprintf(reason, sizeof reason, "sample %zu, set %d: %.240s", sample, k, err.text);
    status = err.status == DP_EFAULT && m->steps.n > sample
                 ? step_result_bad(&m->left, sample, reason)
                 : cell_error(m->cell, &err, RECORD_FAILED, reason);
    m->cell->first_bad_step = (long)sample;
    return status;
}

/* Runs a step; or a chain of them, if samples are chains and this is one. */
static int run_sample(void *self, bool warmup)
{
    struct measure *m = self;
    struct record_cell *cell = m->cell;
    const size_t step = m->steps.n;
    const int k = (int)(step % WORKLOAD_SETS);
    struct session_times times = {0};
    struct dp_error err = {0};
    char reason[256];
    int status = 0;

    if (!warmup && m->chain.length > 0)
        return run_chain(m);
    if (m->apart && (status = time_step(m, k, true, &times, &err)) == 0) {
        note_phases(m, 1);
        cell->phased_ns[step] = times.step_ns;
        cell->bytes_per_step = session_bytes(&m->session);
        status = step_result_check(&m->left, k, step, &err);
    }
    if (status == 0 && (status = time_step(m, k, !m->apart, &times, &err)) == 0) {
        if (!m->apart)
            note_phases(m, 1);
        steps_note(&m->steps, times.start_ns, times.step_ns, warmup);
        m->measured[k] += !warmup;
        ++cell->steps_checked;

        const uint64_t begin_ns = watch_clock_ns();

        status = step_result_check(&m->left, k, step, &err);
        cell->verify_ns += warmup ? 0 : watch_clock_ns() - begin_ns;
    }
    if (err.status == 0)
        return status;
    snprintf(reason, sizeof reason, "step %zu, set %d: %s", step, k, err.text);
    cell->first_bad_step = (long)step;
    return cell_error(cell, &err, RECORD_FAILED, reason);
}

/* Runs the chains step by step, after the warm-up, in which both sets were verified. */
static int learn_chains(void *self)
{
    struct measure *m = self;
    struct dp_error err = {0};
    char reason[sizeof m->cell->reason];

    for (int k = 0; k < WORKLOAD_SETS && m->chain.length > 0; ++k) {
        if (chain_learn(&m->chain, k, &m->left.step[k], &err) == 0)
            continue;
        snprintf(reason, sizeof reason, "set %d, %.240s", k, err.text);
        return cell_error(m->cell, &err, RECORD_FAILED, reason);
    }
    return 0;
}

/* Runs the samples, and measures afterwards what could influence them. */
static int run_samples(struct measure *m)
{
    struct session *s = &m->session;
    struct record_cell *cell = m->cell;
    struct session_times times;
    struct dp_error err = {0};
    char reason[sizeof cell->reason];
    int status = steps_run(&m->steps);

    /* The other processes of the cell do not count as foreign load, so that part is unknown. */
    if (session_is_shared(s))
        cell->foreign_frac = (double)NAN;
    if (status)
        return status;
    /* After chains, and after samples that were compared by digests of the devices, runs one step
     * more, whose results go to the host. For a chain, this is also the step whose bytes and
     * kernels are counted. */
    if ((m->chain.length > 0 || m->left.marked) && session_prepare(s, 0, &err) == 0 &&
        session_step(s, 0, &times, &err) == 0 && session_trace(s, &err) == 0 &&
        session_read(s, &err) == 0 && session_digest(s) != m->left.step[0].step)
        dp_fail(&err, DP_EFAULT,
                "the step behind the samples does not leave what the verified one left");
    if (err.status)
        return cell_error(cell, &err, RECORD_FAILED, err.text);
    if (!m->apart)
        cell->bytes_per_step = session_bytes(s);
    cell->kernels_per_step = (double)s->kernels;
    if (session_peaks(s, cell->peak_bytes, &err))
        return cell_error(cell, &err, RECORD_FAILED, err.text);
    cell->n_peaks = cell->n_ranks;
    /* What follows is compared by digest only. */
    if (m->left.by_value)
        return 0;
    /* A step without communication; for ranks also how much of it overlaps backward. */
    if (s->kind->ranks
            ? session_overlap(s, m->config->limits.seconds, m->left.step, cell, &err)
            : session_alone(s, m->config, &m->set[0], m->left.step[0].gradients, cell, &err))
        return cell_error(cell, &err, RECORD_FAILED, err.text);
    /* Steps are traced last. If there is too little memory, there is no trace. */
    if (!m->trace || trace_steps(s, m->config, m->left.step, m->trace, &err) == 0 ||
        err.status == DP_ENOMEM)
        return 0;
    snprintf(reason, sizeof reason, "a traced step: %s", err.text);
    return cell_error(cell, &err, RECORD_FAILED, reason);
}

static void drop(uint64_t **times)
{
    free(*times);
    *times = NULL;
}

/* Opens all that a step needs, and verifies as much of it as possible before the first step. */
static int open_all(struct measure *m, struct dp_group *group)
{
    struct record_cell *cell = m->cell;
    struct session *s = &m->session;
    struct dp_communicator_row row;
    struct dp_kind_row kind;
    const bool cores = dp_kind_of(dp_slot_name(dp_group_slot(group, 0)), &kind) &&
                       (kind.flags & DP_KIND_CORES) != 0;
    struct text_error why;
    struct dp_error err = {0};

    if (session_open(s, group, m->config, NULL, &err))
        return cell_error(cell, &err, RECORD_BROKEN, err.text);
    m->left.by_value = !workload_is_exact(&m->config->workload) &&
                       dp_communicator_of(dp_group_communicator(group), &row) &&
                       (row.can & s->kind->free) != 0;
    if (measure_probe(m->config, s, cell))
        return -1;

    const uint64_t reference_ns = watch_clock_ns();

    for (int k = 0; k < WORKLOAD_SETS; ++k)
        if (measure_reference(m->config, k, &m->set[k], &m->left.verify[k], &why))
            return cell_fail(cell, RECORD_BROKEN, why.text);
    for (int k = 0; k < WORKLOAD_SETS; ++k)
        if (session_open_set(s, &m->set[k], &err))
            return cell_error(cell, &err, RECORD_BROKEN, err.text);
    cell->reference_ns = watch_clock_ns() - reference_ns;
    /* How samples are traced and compared. */
    if (m->config->chain > 0 && m->left.by_value) {
        dp_fail(&err, DP_ENOTSUP,
                "the communicator may add in another order in each step, and the workload "
                "rounds: what a chain leaves is not known");
    } else if (m->config->chain > 0 && m->limits.warmup_steps < WORKLOAD_SETS) {
        /* The warm-up must be long enough to verify both sets. */
        dp_fail(&err, DP_EINVAL, "a chain needs a warm-up of at least %d steps", WORKLOAD_SETS);
    } else if (m->config->chain > 0) {
        chain_open(&m->chain, s, m->config->chain, cores && !m->config->phases_apart);
        m->untraced = !m->chain.traced;
    } else {
        m->apart = m->config->phases_apart || !cores;
        m->left.marked = m->apart && !m->left.by_value;
        if (m->apart && !(cell->phased_ns = calloc(cell->n_samples, sizeof cell->phased_ns[0])))
            dp_fail(&err, DP_ENOMEM, "no memory for the samples");
        else if (m->left.marked)
            marks_open(&m->left.marks, s);
    }
    return err.status ? cell_error(cell, &err, RECORD_BROKEN, err.text) : 0;
}

void measure_model(const struct cell_config *config, FILE *trace, struct dp_group *group,
                   struct node_watch *gpus, uint64_t start_ns, struct record_cell *cell)
{
    struct measure *m = cli_alloc(1, sizeof *m);
    struct dp_error err = {0};
    char reason[sizeof cell->reason];

    *m = (struct measure){.config = config, .cell = cell, .trace = trace};
    m->left = (struct step_result){.session = &m->session, .cell = cell};
    m->limits = cell_samples(config);
    m->steps = (struct steps){.limits = &m->limits,
                              .session = &m->session,
                              .cell = cell,
                              .run = run_sample,
                              .self = m,
                              .ready = learn_chains,
                              .gpus = gpus};
    if (record_cell_alloc(cell, CELL_WARMUP_MAX + m->limits.max_steps, cell->n_ranks)) {
        cell_fail(cell, RECORD_BROKEN, "out of memory for the samples");
        free(m);
        return;
    }
    int status = open_all(m, group);

    cell->setup_ns = watch_clock_ns() - start_ns;
    if (status == 0)
        status = run_samples(m);
    if (status != 0 && cell->warmup_steps == 0)
        cell->warmup_steps = m->steps.n;
    chain_close(&m->chain);
    marks_close(&m->left.marks);
    session_close(&m->session);
    /* The parts of the machine. Nothing of the cell is in the memory of the devices any more. */
    if (status == 0 && measure_parts(group, config, cell, &err)) {
        snprintf(reason, sizeof reason, "parts: %s", err.text);
        status = cell_error(cell, &err, RECORD_FAILED, reason);
    }
    steps_trim(&m->steps);

    const unsigned phases = m->untraced ? 0 : session_phases(config);
    uint64_t any = 0;

    /* Times that are unknown, or that do not exist, must not look like a time of 0. Devices that
     * run their queues later do not know the time of their matrix products. The model alone has
     * nothing to scatter, replicate, gather or reduce. Ranks have their parameters already, and
     * also their rows, unless these start on the host. */
    for (size_t i = 0; i < cell->n_samples * (size_t)cell->n_ranks; ++i)
        any |= cell->matmul_ns[i];
    if (any == 0)
        drop(&cell->matmul_ns);
    for (int phase = 0; phase < RECORD_PHASES; ++phase)
        if ((phases & 1u << phase) == 0)
            drop(&cell->phase_ns[phase]);
    record_derive(cell);
    if (status == 0)
        step_result_judge(&m->left, m->measured);
    for (int k = 0; k < WORKLOAD_SETS; ++k)
        verify_close(m->left.verify[k]);
    free(m);
}
