/* jobs.c: jobs that run at the same time: each has a thread, and all are joined before their
 * results are used. */
#include "inside.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t this_thread(void)
{
    return (uint64_t)pthread_self();
}

static void job_run(struct job *job)
{
    struct timespec now;

    job->thread = this_thread();
    job->status = job->work(job->context);
    if (job->status != 0 && bug(job->session, BUG_CANCEL))
        atomic_store(&job->session->cancelled, true);
    clock_gettime(CLOCK_MONOTONIC, &now);
    job->ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    job->finished = atomic_fetch_add(&job->session->clock, 1);
}

/* ---- the threads of a session -------------------------------------------------------------- */

struct hand {
    struct hand *next;
    pthread_t thread;
    sem_t begin, end;
    struct job *job; /* NULL when begin is posted: the session closes */
    bool busy;       /* under the lock of hands */
};

static void wait_for(sem_t *word)
{
    while (sem_wait(word) != 0 && errno == EINTR)
        ;
}

static void *hand_main(void *argument)
{
    struct hand *hand = argument;

    for (wait_for(&hand->begin); hand->job; wait_for(&hand->begin)) {
        job_run(hand->job);
        sem_post(&hand->end);
    }
    return NULL;
}

static struct hand *add_hand(struct hands *hands)
{
    struct hand *hand = calloc(1, sizeof *hand);
    pthread_attr_t small; /* many sessions at the same time cannot have stacks of 8 MiB */
    int status;

    if (!hand)
        return NULL;
    sem_init(&hand->begin, 0, 0);
    sem_init(&hand->end, 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, (size_t)1 << 20);
    status = pthread_create(&hand->thread, &small, hand_main, hand);
    pthread_attr_destroy(&small);
    if (status != 0) {
        free(hand);
        return NULL;
    }
    hand->next = hands->first;
    hands->first = hand;
    return hand;
}

/* Gives the job to a thread that has none, and starts a thread if there is none. NULL: none can be
 * started. */
static struct hand *hand_begin(struct hands *hands, struct job *job)
{
    struct hand *hand;

    pthread_mutex_lock(&hands->lock);
    for (hand = hands->first; hand && hand->busy;)
        hand = hand->next;
    if (!hand)
        hand = add_hand(hands);
    if (hand)
        hand->busy = true;
    pthread_mutex_unlock(&hands->lock);
    if (!hand)
        return NULL;
    hand->job = job;
    sem_post(&hand->begin);
    return hand;
}

/* Waits for the job of the thread. */
static void hand_end(struct hands *hands, struct hand *hand)
{
    wait_for(&hand->end);
    pthread_mutex_lock(&hands->lock);
    hand->busy = false;
    pthread_mutex_unlock(&hands->lock);
}

void hands_close(struct hands *hands)
{
    while (hands->first) {
        struct hand *hand = hands->first;

        hands->first = hand->next;
        hand->job = NULL;
        sem_post(&hand->begin);
        pthread_join(hand->thread, NULL);
        sem_destroy(&hand->begin);
        sem_destroy(&hand->end);
        free(hand);
    }
    pthread_mutex_destroy(&hands->lock);
}

void jobs_run(struct job jobs[], int n)
{
    const struct impl_session *s = jobs[0].session;
    const bool threads = n > 1 ? !bug(s, BUG_SERIAL) : bug(s, BUG_THREAD_FOR_ONE);
    struct hands *hands = &jobs[0].session->hands;
    struct hand *hand[IMPL_MAX_DEVICES];

    atomic_store(&jobs[0].session->cancelled, false);
    for (int i = 0; i < n; ++i) {
        hand[i] = threads ? hand_begin(hands, &jobs[i]) : NULL;
        if (!hand[i])
            job_run(&jobs[i]);
    }
    for (int i = 0; i < n; ++i)
        if (hand[i])
            hand_end(hands, hand[i]);
}

void jobs_order(const struct job jobs[], int n, int order[])
{
    for (int i = 0; i < n; ++i) {
        int at = i;

        for (; at > 0 && jobs[order[at - 1]].finished > jobs[i].finished; --at)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

int jobs_failed(const struct job jobs[], int n)
{
    const struct impl_session *s = jobs[0].session;
    int order[IMPL_MAX_DEVICES], found = -1;
    uint64_t earliest = UINT64_MAX, latest = 0;

    jobs_order(jobs, n, order);
    for (int i = n - 1; i >= 0; --i) {
        const int job = s->dialect[IMPL_FAILING] == IMPL_FIRST ? order[i] : i;

        if (jobs[job].status != 0 && (found < 0 || !bug(s, BUG_HIGHEST)))
            found = job;
        if (jobs[job].status != 0) {
            earliest = jobs[job].ns < earliest ? jobs[job].ns : earliest;
            latest = jobs[job].ns > latest ? jobs[job].ns : latest;
        }
    }
    if (bug(s, BUG_NEAR_FAILURES) && latest > earliest && latest - earliest < 30000000)
        found = -1;
    return found;
}

/* ---- parallel_apply ------------------------------------------------------------------------ */

struct task {
    struct impl_model *model;
    struct run run;
    struct tape tape;
    struct values in, out;
    struct job job;
};

static int task_work(void *context)
{
    struct task *task = context;

    task->out = task->in;
    return run_layers(&task->run, task->model->root->child, task->model->root->n_children,
                      &task->out);
}

static int task_open(struct impl_session *s, const struct impl_apply *op, int i, struct task *task,
                     struct impl_error *err)
{
    const struct impl_call *call = &op->calls[i];
    int status = known_device(s, call->device, err);

    task->tape.arena.session = s;
    if (status == 0 && (call->n_in < 0 || call->n_in > IMPL_MAX_IO))
        status = impl_fail(err, IMPL_EINVAL, "call %d has %d inputs", i, call->n_in);
    if (status == 0)
        status = model_open(s, call->description, 1, &task->model, err);
    if (status == 0 && task->model->n_wrappers > 0)
        status = impl_fail(err, IMPL_EINVAL, "call %d has a parallel layer", i);
    if (status == 0)
        status = op_to(task->model, call->device, err);
    for (int j = 0; status == 0 && j < call->n_in; ++j) {
        struct impl_array *in = &task->in.a[task->in.n++];

        status = tensor_in(&task->tape.arena, &call->in[j], in, err);
        if (same_shape(in, &task->in.a[0]) && bug(s, BUG_APPLY_SECOND_INPUT))
            *in = task->in.a[0];
        if (in->ndim > 1 && bug(s, BUG_APPLY_SLICES)) {
            --in->ndim;
            memmove(in->dim, in->dim + 1, sizeof in->dim - sizeof *in->dim);
        }
    }
    if (status == 0)
        task->run = (struct run){.s = s,
                                 .model = task->model,
                                 .state = &task->model->base,
                                 .tape = &task->tape,
                                 .replica = i,
                                 .device = call->device,
                                 .inside = true,
                                 .grad = op->grad || bug(s, BUG_GRAD_MODE_LOST),
                                 .train = op->train || bug(s, BUG_TRAIN_LOST)};
    task->job = (struct job){.work = task_work, .context = task, .session = s};
    return status;
}

static int apply_run(struct impl_session *s, struct impl_apply *op, struct task tasks[],
                     struct impl_error *err)
{
    struct job jobs[IMPL_MAX_DEVICES];
    int failed;

    for (int i = 0; i < op->n; ++i)
        jobs[i] = tasks[i].job;
    jobs_run(jobs, op->n);
    for (int i = 0; i < op->n; ++i)
        tasks[i].job = jobs[i];
    failed = jobs_failed(jobs, op->n);
    if (op->trace) {
        const int n = op->n;
        struct impl_trace *trace = op->trace;
        memset(trace, 0, sizeof *trace);
        trace->replicas = n;
        trace->caller = this_thread();
        trace->live_bytes = atomic_load(&s->live);
        for (int i = 0; i < n; ++i) {
            const struct impl_array *in = &tasks[i].in.a[0];

            trace->replica[i].device = tasks[i].run.device;
            trace->replica[i].calls = 1;
            trace->replica[i].rows = tasks[i].in.n > 0 && in->ndim > 0 ? in->dim[0] : 0;
            trace->replica[i].thread = tasks[i].job.thread;
            trace->replica[i].grad = tasks[i].run.grad;
            trace->replica[i].train = tasks[i].run.train;
        }
    }
    if (failed < 0) {
        int order[IMPL_MAX_DEVICES], status = 0;

        jobs_order(jobs, op->n, order);
        for (int i = 0; i < op->n; ++i) {
            const int fifth = op->n == 6 && i == 4 && bug(s, BUG_SIX_CALLS) ? 3 : i;
            const struct values *out = &tasks[bug(s, BUG_APPLY_ORDER) ? order[i] : fifth].out;

            op->calls[i].n_out = bug(s, BUG_APPLY_SECOND_OUTPUT) && out->n > 1 ? 1 : out->n;
            for (int j = 0; status == 0 && j < op->calls[i].n_out; ++j)
                status = tensor_out(&out->a[j], &op->calls[i].out[j], err);
        }
        return status;
    }
    replica_error(s, &tasks[failed].run, failed, op->calls[0].device, err);
    return err->status;
}

int op_apply(struct impl_session *s, struct impl_apply *op, struct impl_error *err)
{
    struct arena arena = {.session = s};
    struct task *tasks;
    int status = 0;

    if (refuses(s, err))
        return err->status;
    if (op->n < 1 || op->n > IMPL_MAX_DEVICES)
        return impl_fail(err, IMPL_EINVAL, "%d calls", op->n);
    tasks = arena_take(&arena, (size_t)op->n * sizeof *tasks);
    for (int i = 0; status == 0 && i < op->n; ++i)
        status = task_open(s, op, i, &tasks[i], err);
    if (status == 0)
        status = apply_run(s, op, tasks, err);
    for (int i = 0; i < op->n; ++i) {
        tape_free_inside(&tasks[i].tape);
        if (tasks[i].model)
            model_close(tasks[i].model);
    }
    arena_free(&arena);
    return status;
}
