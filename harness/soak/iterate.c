/* soak/iterate.c: iterations, each compared with the known answer, until the time is over. */
#include <stdio.h>

#include "command/command.h"
#include "files/files.h"
#include "measure/session.h"
#include "numbers/equal.h"
#include "soak/soak.h"

/* ---- one comparison -------------------------------------------------------------------------- */

const char *const soak_what_words[SOAK_WHATS] = {[SOAK_OUTPUTS] = "outputs",
                                                 [SOAK_LOSS] = "loss",
                                                 [SOAK_GRADIENT] = "gradient",
                                                 [SOAK_REDUCED] = "reduced gradient",
                                                 [SOAK_PARAMETER] = "parameter",
                                                 [SOAK_DEAD] = "dead",
                                                 [SOAK_HUNG] = "hung"};

const char *const soak_mode_words[SOAK_MODES] = {
    [SOAK_DDP] = "ddp", [SOAK_OVERLAP] = "overlap", [SOAK_DP] = "dp"};

const char *const soak_part_words[SOAK_PARTS] = {[SOAK_RIGHT] = "",
                                                 [SOAK_DROPPED] = "its part is missing",
                                                 [SOAK_DOUBLED] = "its part is there twice",
                                                 [SOAK_STALE] =
                                                     "its part is that of the iteration before"};

bool soak_differ(const float got[], const float want[], float factor, size_t n,
                 struct soak_finding *finding)
{
    uint32_t differ = 0;

    /* A loop without a branch, many values at once; which one it was is looked for afterwards. */
    for (size_t i = 0; i < n; ++i)
        differ |= equal_word(got[i]) ^ equal_word(want[i] * factor);
    if (differ == 0)
        return false;
    finding->differ = 0;
    finding->of = n;
    for (size_t i = n; i-- > 0;)
        if (equal_word(got[i]) != equal_word(want[i] * factor)) {
            ++finding->differ;
            finding->index = i;
            finding->got = equal_word(got[i]);
            finding->want = equal_word(want[i] * factor);
        }
    return true;
}

struct iteration {
    struct soak *soak;
    uint64_t number;
    size_t found;            /* findings before it */
    bool wrong[SOAK_PARAMS]; /* a rank's own gradient of that parameter is */
    struct dp_error err;
    int device; /* whose turn it is when something fails; -1: all of them */
};

/* ---- comparing --------------------------------------------------------------------------- */

/* The model does not know the sign of a zero. It is that of the first iteration's on the first
 * device, from then on as good as any other bit. */
static void take_signs(const struct iteration *it, int r, const float got[], float want[], size_t n)
{
    if (it->number != it->soak->options->first || r != 0)
        return;
    for (size_t i = 0; i < n; ++i)
        if (want[i] == 0 && got[i] == 0)
            want[i] = got[i];
}

static bool compare_tensor(struct iteration *it, const struct soak_finding *place,
                           const float got[], float want[], float factor, size_t n)
{
    struct soak_finding finding = *place;

    take_signs(it, place->device, got, want, n);
    it->soak->found.compared += n;
    if (!soak_differ(got, want, factor, n, &finding))
        return false;
    soak_note(it->soak, &finding);
    return true;
}

static int read_gradient(struct iteration *it, int r, int p)
{
    struct soak *s = it->soak;
    struct dp_tensor value, grad;
    const int status = session_param(&s->ranks.session, r, p, &value, &grad, &it->err);

    if (status)
        return status;
    if (!grad.slot)
        return dp_fail(&it->err, DP_EFAULT, "no gradient of %s", s->ranks.name[p]);
    return dp_tensor_read(s->room, &grad, &it->err);
}

/* Outputs, loss and gradients of a rank; in mode overlap the gradients are reduced already. */
static int compare_rank(struct iteration *it, int r)
{
    struct soak *s = it->soak;
    const struct dp_tensor *out = &s->ranks.session.out[r * DP_MAX_IO];
    struct soak_finding place = {
        .what = SOAK_OUTPUTS, .iteration = it->number, .device = r, .param = -1};
    float got, want = (float)(s->answer.loss * (double)soak_factor(r, it->number));
    int status;

    if ((status = dp_tensor_read(s->room, &out[1], &it->err)))
        return status;
    compare_tensor(it, &place, s->room, s->answer.outputs, 1, s->answer.rows * s->answer.width);
    if ((status = dp_tensor_read(&got, &out[0], &it->err)))
        return status;
    place.what = SOAK_LOSS;
    compare_tensor(it, &place, &got, &want, 1, 1);
    place.what = SOAK_GRADIENT;
    for (int p = 0; !s->ranks.overlap && p < s->answer.n_params; ++p) {
        place.param = p;
        if ((status = read_gradient(it, r, p)))
            return status;
        it->wrong[p] |= compare_tensor(it, &place, s->room, s->answer.gradient[p],
                                       soak_factor(r, it->number), s->answer.count[p]);
    }
    return 0;
}

/* Mode dp: the rows of each device, and the loss of all. */
static int compare_wrapped(struct iteration *it)
{
    struct soak *s = it->soak;
    const struct dp_tensor *out = s->ranks.session.out;
    const size_t each = s->answer.rows * s->answer.width;
    struct soak_finding place = {.what = SOAK_OUTPUTS, .iteration = it->number, .param = -1};
    double sum = 0;
    float got, want;
    int status = dp_tensor_read(s->room, &out[1], &it->err);

    for (int r = 0; status == 0 && r < s->ranks.n; ++r) {
        place.device = r;
        compare_tensor(it, &place, s->room + (size_t)r * each, s->answer.outputs, 1, each);
        sum += s->answer.loss * (double)soak_factor(r, it->number);
    }
    if (status || (status = dp_tensor_read(&got, &out[0], &it->err)))
        return status;
    want = (float)sum;
    place.what = SOAK_LOSS;
    place.device = -1;
    if (s->found.n == it->found) /* else it is wrong, too */
        compare_tensor(it, &place, &got, &want, 1, 1);
    return 0;
}

/* All that have it have the same wrong mean: every part was right, so something became of one on
 * its way. Which one follows from the numbers, if it is one of these. Where two ranks would explain
 * it, none is named. */
static void explain_mean(struct iteration *it, struct soak_finding *finding)
{
    const struct soak_answer *a = &it->soak->answer;
    const float *gradient = a->gradient[finding->param], *mean = it->soak->room;
    const int n = it->soak->ranks.n;
    int named = 0;

    finding->device = -1;
    for (int who = 0; who < n; ++who)
        for (enum soak_part part = SOAK_DROPPED; part < SOAK_PARTS; ++part) {
            size_t i = 0;

            while (i < a->count[finding->param] &&
                   mean[i] == soak_mean(gradient[i], n, a->scale, it->number, who, part))
                ++i;
            if (i < a->count[finding->param])
                continue;
            finding->device = ++named == 1 ? who : -1;
            finding->part = part;
        }
}

static int compare_mean(struct iteration *it, int p)
{
    struct soak *s = it->soak;
    const int have = s->ranks.session.n_ranks;
    struct soak_finding of[DP_MAX_SLOTS];
    int n = 0, same = 0, status;

    for (int r = have; r-- > 0;) { /* the first one's stays in the room */
        struct soak_finding place = {
            .what = SOAK_REDUCED, .iteration = it->number, .device = r, .param = p};

        it->device = r;
        if ((status = read_gradient(it, r, p)))
            return status;
        take_signs(it, r, s->room, s->answer.reduced[p], s->answer.count[p]);
        s->found.compared += s->answer.count[p];
        if (soak_differ(s->room, s->answer.reduced[p], soak_factor_of_iteration(it->number),
                        s->answer.count[p], &place))
            of[n++] = place;
    }
    it->device = -1;
    for (int i = 0; i < n; ++i)
        same +=
            of[0].differ == of[i].differ && of[0].index == of[i].index && of[0].got == of[i].got;
    if (n > 0 && s->ranks.n > 1 && n == have && same == have) {
        explain_mean(it, &of[0]);
        n = 1;
    }
    for (int i = 0; i < n; ++i)
        soak_note(s, &of[i]);
    return 0;
}

/* After an iteration that was wrong: whether a parameter has changed in memory. All are written
 * again, so that the next iteration is one of right parameters. */
static int repair(struct iteration *it)
{
    struct soak *s = it->soak;
    struct dp_tensor value, grad;
    int status;

    for (int r = 0; r < s->ranks.session.n_ranks; ++r)
        for (int p = 0; p < s->answer.n_params; ++p) {
            const struct soak_finding place = {
                .what = SOAK_PARAMETER, .iteration = it->number, .device = r, .param = p};

            it->device = r;
            if ((status = session_param(&s->ranks.session, r, p, &value, &grad, &it->err)) ||
                (status = dp_tensor_read(s->room, &value, &it->err)))
                return status;
            compare_tensor(it, &place, s->room, s->answer.value[p], 1, s->answer.count[p]);
        }
    it->device = -1;
    return session_restore(&s->ranks.session, s->answer.value, &it->err);
}

/* ---- an iteration ------------------------------------------------------------------------ */

/* Runs a step, and compares what it left; what was wrong is put right for the next one. */
static int run_iteration(struct iteration *it)
{
    struct soak *soak = it->soak;
    const bool ranks = soak->options->mode != SOAK_DP;
    int status = soak_ranks_step(&soak->ranks, it->number, &it->err);
    uint64_t begin_ns = watch_clock_ns();

    if (status == 0 && !ranks)
        status = compare_wrapped(it);
    for (int r = 0; ranks && status == 0 && r < soak->ranks.n; ++r)
        status = compare_rank(it, r);
    soak->check_seconds += session_seconds_since(begin_ns);
    if (status == 0)
        status = soak_ranks_reduce(&soak->ranks, &it->err);
    begin_ns = watch_clock_ns();
    /* Only means whose parts were right: errors in others are known already. */
    for (int p = 0; status == 0 && p < soak->answer.n_params; ++p)
        if (!it->wrong[p])
            status = compare_mean(it, p);
    if (status == 0 && soak->found.n > it->found)
        status = repair(it);
    soak->check_seconds += session_seconds_since(begin_ns);
    return status;
}

void soak_iterate(struct soak *soak)
{
    const struct soak_options *o = soak->options;
    const uint64_t start_ns = watch_clock_ns();

    for (;;) {
        struct iteration it = {.soak = soak,
                               .number = soak->options->first + soak->iterations,
                               .found = soak->found.n,
                               .device = -1};

        soak->interrupted = stop_requested();
        if (soak->over || soak->interrupted ||
            (o->iterations > 0 && soak->iterations >= o->iterations) ||
            (o->minutes > 0 && soak->seconds >= 60 * o->minutes))
            break;
        atomic_store(&soak->watch_iteration, it.number);
        atomic_store(&soak->watch_ns, watch_clock_ns());
        const int status = run_iteration(&it);
        atomic_store(&soak->watch_ns, 0);
        if (status == DP_ENOMEM) {
            soak->starved = it.err;
            break;
        }
        if (status) {
            const struct dp_error *err = &it.err;
            struct soak_finding finding = {.what = SOAK_DEAD,
                                           .iteration = it.number,
                                           .device = err->has_replica ? err->replica : it.device,
                                           .param = -1};

            snprintf(finding.text, sizeof finding.text, "%.150s", err->text);
            soak_note(soak, &finding);
            soak->over = true;
        }
        ++soak->iterations;
        soak->seconds = session_seconds_since(start_ns);
        soak_progress(soak, false);
        if (!soak->over) {
            double busy[DP_MAX_SLOTS];

            for (int r = 0; r < soak->ranks.n; ++r)
                busy[r] = soak_ranks_busy(&soak->ranks, r);
            soak_rates_add(&soak->rates, soak->options->first + soak->iterations - 1, soak->seconds,
                           busy);
        }
    }
}
