/* session.c: the results of a step are refused, or the digest changes, if a replica did something
 * else, or if a result has another size. */
#include "measure/session.h"
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10 };

struct fixture {
    struct cell_config config;
    struct dp_group *group;
    struct session session;
    struct session_times times;
};

/* Makes one right step of set 0 on two devices, or of the model alone. */
static void open_workload(struct fixture *f, const char *name, size_t n_rows, enum cell_mode mode)
{
    const struct dp_group_config config = {.devices = "virt:2", .backend = "cpu-ref"};
    struct dp_error err = {0};
    f->config = (struct cell_config){
        .seed = 5, .rows = n_rows, .mode = mode, .workload = example_workload(name)};
    cr_assert(dp_group_open(&config, &f->group, &err) == 0, "%s", err.text);
    cr_assert(session_open(&f->session, f->group, &f->config, NULL, &err) == 0 &&
                  session_open_sets(&f->session, &f->config, &err) == 0,
              "%s", err.text);
    cr_assert(session_prepare(&f->session, 0, &err) == 0 &&
                  session_step(&f->session, 0, &f->times, &err) == 0 &&
                  session_read(&f->session, &err) == 0,
              "%s", err.text);
}

static void open_mode(struct fixture *f, enum cell_mode mode)
{
    open_workload(f, "mlp:4,6,3", ROWS, mode);
}

static void open_step(struct fixture *f)
{
    open_mode(f, CELL_DP);
}

static void close_step(struct fixture *f)
{
    session_close(&f->session);
    dp_group_close(f->group);
}

/* The values are the same in all of these: only the replica that made them differs. */
Test(session, digest_covers_who_did_what)
{
    struct fixture f = {0};
    open_step(&f);
    struct probe *probe = &f.session.probe;
    const struct probe right = *probe;
    const uint64_t digest = session_digest(&f.session);
    size_t rows[DP_MAX_SLOTS];
    cr_assert(probe_rows(probe, rows) == 2 && rows[0] == 5 && rows[1] == 5);
    cr_assert(session_digest(&f.session) == digest);

    probe->replica[0].in[0] = 9;
    probe->replica[1].in[0] = 1;
    cr_assert(session_digest(&f.session) != digest, "9 + 1 rows pass for 5 + 5");
    *probe = right;
    probe->replica[1].calls = 2;
    cr_assert(session_digest(&f.session) != digest, "a second call passes");
    cr_assert(probe_rows(probe, rows) == 2 && rows[1] == 0, "rows of two calls count");
    *probe = right;
    probe->replica[1].calls = 0;
    cr_assert(session_digest(&f.session) != digest, "an idle replica passes");
    *probe = right;
    probe->replica[2] = probe->replica[1];
    memset(&probe->replica[1], 0, sizeof probe->replica[1]);
    cr_assert(probe_rows(probe, rows) == 3 && rows[1] == 0 && rows[2] == 5,
              "replica 2 passes for replica 1");
    cr_assert(session_digest(&f.session) != digest);
    close_step(&f);
}

static void expect_refused(struct fixture *f, const char *named)
{
    struct dp_error err = {0};
    cr_assert(session_read(&f->session, &err) != 0, "read, must name \"%s\"", named);
    cr_assert(strstr(err.text, named), "\"%s\" lacks \"%s\"", err.text, named);
}

Test(session, results_of_another_size_are_refused)
{
    struct fixture f = {0};
    struct dp_error err = {0};
    open_step(&f);
    struct session *s = &f.session;
    const struct dp_tensor loss = s->out[0], output = s->out[1];

    s->out[0].ndim = 1;
    s->out[0].dim[0] = 2;
    expect_refused(&f, "2 losses");
    s->out[0].dim[0] = 0;
    expect_refused(&f, "0 losses");
    s->out[0] = loss;
    --s->out[1].dim[0];
    expect_refused(&f, "27 outputs");
    s->out[1] = output;
    for (int p = 0; p < s->n_params; ++p) {
        --s->param[p]->grad.dim[0];
        expect_refused(&f, "gradient");
        ++s->param[p]->grad.dim[0];
    }
    cr_assert(session_read(s, &err) == 0, "%s", err.text);
    close_step(&f);
}

/* The model alone gives the same bits, without the phases of the wrapper. */
Test(session, plain_is_the_model_alone)
{
    struct fixture plain = {0}, dp = {0};
    size_t rows[DP_MAX_SLOTS];
    open_mode(&plain, CELL_PLAIN);
    open_mode(&dp, CELL_DP);
    const struct session *a = &plain.session, *b = &dp.session;
    cr_assert(probe_rows(&a->probe, rows) == 1 && rows[0] == ROWS);
    cr_assert(a->top == a->probed && b->top != b->probed);
    static const bool of_model[DP_PHASES] = {[DP_PHASE_FORWARD] = true,
                                             [DP_PHASE_BACKWARD] = true,
                                             [DP_PHASE_LOSS] = true,
                                             [DP_PHASE_UPDATE] = true};
    uint64_t all = 0;
    for (int phase = 0; phase < DP_PHASES; ++phase) {
        const uint64_t ns = a->trace.replica[0].ns[phase];
        cr_assert((ns > 0) == of_model[phase], "phase %d: %llu ns", phase, (unsigned long long)ns);
        all += ns;
    }
    cr_assert(b->trace.replica[0].ns[DP_PHASE_FORWARD] > 0, "the wrapper is not traced");
    cr_assert(all <= plain.times.step_ns);

    cr_assert(a->n_params == 4 && b->n_params == 4);
    cr_assert(memcmp(a->outputs, b->outputs, (size_t)ROWS * 3 * sizeof(float)) == 0);
    cr_assert(memcmp(&a->loss_value, &b->loss_value, sizeof a->loss_value) == 0);
    for (int p = 0; p < a->n_params; ++p) {
        const size_t bytes = dp_tensor_bytes(&a->param[p]->value);
        cr_assert(memcmp(a->gradient[p], b->gradient[p], bytes) == 0, "gradient %d", p);
        cr_assert(memcmp(a->updated[p], b->updated[p], bytes) == 0, "parameter %d", p);
        cr_assert(memcmp(a->updated[p], a->value[0][p], bytes) != 0, "no update of %d", p);
    }
    close_step(&plain);
    close_step(&dp);
}

/* The loss is a separate phase of a rank and in no other one; nothing is scattered, replicated or
 * gathered. */
Test(session, ranks_have_phases_of_their_own)
{
    struct fixture f = {0};
    static const bool of_ranks[DP_PHASES] = {[DP_PHASE_FORWARD] = true,
                                             [DP_PHASE_BACKWARD] = true,
                                             [DP_PHASE_REDUCE] = true,
                                             [DP_PHASE_LOSS] = true,
                                             [DP_PHASE_UPDATE] = true};
    open_mode(&f, CELL_DDP);
    for (int r = 0; r < 2; ++r) {
        uint64_t all = 0;
        for (int phase = 0; phase < DP_PHASES; ++phase) {
            const uint64_t ns = f.session.trace.replica[r].ns[phase];
            cr_assert((ns > 0) == of_ranks[phase] && ns <= f.times.step_ns,
                      "rank %d phase %d: %llu", r, phase, (unsigned long long)ns);
            all += ns;
        }
        cr_assert(all <= f.times.step_ns, "rank %d: more than the step", r);
    }
    close_step(&f);
}

/* Ranks leave sums over two, which the verifier takes for means and for nothing else. An exact loss
 * must not differ by its last bit, another loss not by 1. */
static void expect_means(const char *name, size_t n_rows, bool exact)
{
    struct fixture f = {0};
    struct verify *verify = NULL;
    struct text_error why = {""};
    size_t rows[DP_MAX_SLOTS], values = 0;
    open_workload(&f, name, n_rows, CELL_DDP);
    const struct workload_set set = workload_batch(&f.config.workload, n_rows, DP_MATH_F32, 5, 0);
    struct session *s = &f.session;
    struct verify_step left = session_result(s, rows);
    cr_assert(verify_open(&f.config.workload, &set, n_rows, 2, DP_MATH_F32, &verify, &why) == 0,
              "%s", why.text);
    cr_assert(verify_check(verify, &left, &values, &why) == 1, "means pass for sums");
    cr_assert(verify_ranks(verify, &why) == 0, "%s", why.text);
    cr_assert(verify_check(verify, &left, &values, &why) == 0, "%s: %s", name, why.text);
    left.loss = exact ? nextafterf(left.loss, INFINITY) : left.loss + 1;
    cr_assert(verify_check(verify, &left, &values, &why) == 1, "any loss passes");
    left.loss = s->loss_value;
    s->gradient[0][0] += 1;
    cr_assert(verify_check(verify, &left, &values, &why) == 1, "any gradient passes for a mean");
    verify_close(verify);
    close_step(&f);
}

Test(session, ranks_leave_means)
{
    expect_means("mlp:4,6,3", ROWS, true);
    expect_means("mlp:4,6,3", 100001, true);
    expect_means("blocks", ROWS, true);
    expect_means("cnn", 5, true);
    expect_means("rnn", 5, false);
    expect_means("lstm", 5, false);
}

Test(session, means_that_are_not_exact_are_refused)
{
    static const char *const names[] = {"mlp:4,6,3", "lstm"};
    for (int i = 0; i < 2; ++i) {
        const struct workload_set set = workload_set(5, 0);
        const struct workload workload = example_workload(names[i]);
        struct verify *verify = NULL;
        struct text_error why = {""};
        cr_assert(verify_open(&workload, &set, ROWS, 3, DP_MATH_F32, &verify, &why) == 0, "%s",
                  why.text);
        cr_assert(verify_ranks(verify, &why) == -1, "a third of %s passes for exact", names[i]);
        verify_close(verify);
    }
}

/* A rank whose parameters are not those of rank 0 is an error of the step. */
Test(session, unequal_ranks_are_refused)
{
    struct fixture f = {0};
    struct dp_ddp_param param;
    struct dp_error err = {0};
    const float other[4 * 6] = {0};
    open_mode(&f, CELL_DDP);
    cr_assert(dp_ddp_param(f.session.ddp, 1, 0, &param, &err) == 0, "%s", err.text);
    cr_assert(dp_tensor_write(&param.value, other, &err) == 0, "%s", err.text);
    expect_refused(&f, "rank 1");
    close_step(&f);
}

/* Spans that do not fit into a timeline are counted in it, and the sums are those without a
 * timeline. */
Test(session, timeline_that_is_full)
{
    struct fixture f = {0};
    open_step(&f);
    struct dp_trace *trace = &f.session.trace;
    struct dp_timeline *timeline = calloc(1, sizeof *timeline);
    uint64_t shown = 0;
    cr_assert(timeline);
    memset(trace, 0, sizeof *trace);
    trace->timeline = timeline;
    dp_group_trace(f.group, trace);
    for (int i = 0; i < DP_TIMELINE_CAPACITY + 3; ++i) {
        const uint64_t before = trace->replica[1].ns[DP_PHASE_LOSS];
        const struct dp_span span = dp_phase_begin(dp_group_slot(f.group, 1), DP_PHASE_LOSS);
        dp_phase_end(&span);
        if (i < DP_TIMELINE_CAPACITY) {
            const struct dp_interval *at = &timeline->lane[1][DP_LANE_COMPUTE].at[i];
            cr_assert(at->phase == DP_PHASE_LOSS &&
                      trace->replica[1].ns[DP_PHASE_LOSS] - before == at->end_ns - at->begin_ns);
            shown += at->end_ns - at->begin_ns;
        }
    }
    cr_assert(timeline->lane[1][DP_LANE_COMPUTE].n == DP_TIMELINE_CAPACITY + 3);
    cr_assert(timeline->lane[1][DP_LANE_TRANSFER].n == 0);
    cr_assert(timeline->lane[0][DP_LANE_COMPUTE].n == 0);
    cr_assert(trace->replica[1].ns[DP_PHASE_LOSS] >= shown);
    trace->timeline = NULL;
    free(timeline);
    close_step(&f);
}

/* Each device works alone: the gradients of the shards add up to those of the verified step, and
 * any other digest is refused. */
Test(session, devices_can_work_alone)
{
    static const struct {
        const char *name;
        size_t rows;
        enum cell_mode mode;
        bool alone;
    } rows[] = {{"mlp:4,6,3", ROWS, CELL_DP, true},  {"blocks", ROWS, CELL_DP, true},
                {"lstm", 4, CELL_DP, true},          {"mlp:4,6,3", 9, CELL_DP, false},
                {"mixed", ROWS, CELL_DP, false},     {"mlp:4,6,3", ROWS, CELL_PLAIN, false},
                {"mlp:4,6,3", ROWS, CELL_DDP, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct fixture f = {0};
        struct record_cell cell = {.n_alone = 0};
        struct dp_error err = {0};
        open_workload(&f, rows[i].name, rows[i].rows, rows[i].mode);
        const struct workload_set set =
            workload_batch(&f.config.workload, rows[i].rows, DP_MATH_F32, 5, 0);
        const uint64_t gradients = session_gradients(&f.session);
        cr_assert(session_alone(&f.session, &f.config, &set, gradients, &cell, &err) == 0,
                  "row %zu: %s", i, err.text);
        cr_assert((cell.n_alone > 0) == rows[i].alone, "row %zu: %d steps", i, cell.n_alone);
        for (int step = 0; step < cell.n_alone; ++step)
            cr_assert(cell.alone_ns[step] > 0);
        if (cell.n_alone > 0 && workload_is_exact(&f.config.workload)) {
            cell.n_alone = 0;
            cr_assert(session_alone(&f.session, &f.config, &set, gradients ^ 1, &cell, &err) ==
                      DP_EFAULT);
            cr_assert(strstr(err.text, "without communication 0") && cell.n_alone == 0, "%s",
                      err.text);
        }
        close_step(&f);
    }
}

/* A step of several processes: the slowest process may have begun it before the first one. Its
 * place is after the step before, and it is over when all processes have made it. */
Test(session, a_step_of_processes_has_a_place)
{
    cr_assert(share_start(100, 50, 90, 200) == 100, "it is over at 150");
    cr_assert(share_start(100, 50, 90, 150) == 100, "just so");
    cr_assert(share_start(100, 50, 90, 145) == 95, "it began earlier where it took longer");
    cr_assert(share_start(100, 50, 98, 145) == 98, "not within the step before");
    cr_assert(share_start(100, 300, 0, 200) == 0, "clocks that part");
}
