/* machine/watch.c: reads GPUs during measured steps. The series have capacity for all readings from
 * the start, so nothing is allocated while steps are measured. When the capacity is used up, they
 * end. */
#include "machine/node.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dp.h"
#include "launch/watch.h"
#include "machine/nvml.h"
#include "record/record.h"
#include "text/alloc.h"

struct node_watch {
    struct node_nvml nvml;
    pthread_t thread;
    pthread_mutex_t lock; /* protects what follows, except the readings of the thread that reads */
    pthread_cond_t change;
    bool reads, ends;
    int n_gpus;
    node_device device[RECORD_MAX_GPUS];
    struct record_watched *gpu; /* [RECORD_MAX_GPUS] */
    uint64_t begin_ns, spent_ns;
};

static void series_add(struct record_series *series, double value)
{
    if (series->n < RECORD_MOST_READINGS)
        series->value[series->n++] = value;
}

static void *watch_run(void *argument)
{
    struct node_watch *watch = argument;

    pthread_mutex_lock(&watch->lock);
    while (!watch->ends) {
        const uint64_t next = watch_ns(CLOCK_MONOTONIC) + 1000000000U / NODE_WATCH_RATE;
        const struct timespec at = {.tv_sec = (time_t)(next / 1000000000U),
                                    .tv_nsec = (long)(next % 1000000000U)};
        int status = 0;

        if (!watch->reads) {
            pthread_cond_wait(&watch->change, &watch->lock);
            continue;
        }
        /* Until it is time for the next reading, or the state changes. */
        while (watch->reads && !watch->ends && status == 0)
            status = pthread_cond_timedwait(&watch->change, &watch->lock, &at);
        if (!watch->reads || watch->ends)
            continue;

        const uint64_t begin = watch_ns(CLOCK_MONOTONIC);

        for (int i = 0; i < watch->n_gpus; ++i) {
            struct record_during *during = &watch->gpu[i].during;
            struct record_reading now;

            series_add(&during->at_ns, (double)(watch_ns(CLOCK_MONOTONIC) - watch->begin_ns));
            node_reading_read(&watch->nvml, watch->device[i], false, &now);
            series_add(&during->throttle, now.throttle);
            series_add(&during->clock_sm_hz, now.clock_sm_hz);
            series_add(&during->temperature_c, now.temperature_c);
            series_add(&during->power_w, now.power_w);
        }
        watch->spent_ns += watch_ns(CLOCK_MONOTONIC) - begin;
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

static void close_watch(struct node_watch *watch)
{
    pthread_cond_destroy(&watch->change);
    pthread_mutex_destroy(&watch->lock);
    node_nvml_close(&watch->nvml);
    record_watched_free(watch->gpu, watch->n_gpus);
    free(watch);
}

struct node_watch *node_watch_open(const char *devices, const char *nvml)
{
    pthread_condattr_t attribute;
    char why[160];

    if (!node_has_gpus(devices))
        return NULL;
    struct node_watch *watch = cli_alloc(1, sizeof *watch);

    if (node_nvml_open(nvml, &watch->nvml, why) != 0) {
        free(watch);
        return NULL;
    }
    watch->gpu = cli_alloc(RECORD_MAX_GPUS, sizeof *watch->gpu);
    /* None of these can fail here: none takes memory, and the clock exists. */
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&attribute);
    pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->change, &attribute);
    pthread_condattr_destroy(&attribute);
    if (pthread_create(&watch->thread, NULL, watch_run, watch) == 0)
        return watch;
    close_watch(watch);
    return NULL;
}

void node_watch_choose(struct node_watch *watch, struct dp_group *group)
{
    const int n = watch ? node_nvml_count(&watch->nvml) : 0;

    for (int i = 0; watch && i < dp_group_size(group); ++i) {
        bool known = watch->n_gpus == RECORD_MAX_GPUS; /* several slots may be on one GPU */
        struct dp_slot_info info;
        node_device device = NULL;
        char is[16];

        dp_slot_describe(dp_group_slot(group, i), &info);
        for (int k = 0; k < watch->n_gpus; ++k)
            known = known || strcmp(watch->gpu[k].bus, info.bus) == 0;
        for (int d = 0; !known && d < n; ++d) {
            if (node_nvml_device(&watch->nvml, d, &device) != NVML_SUCCESS ||
                node_nvml_bus(&watch->nvml, device, is) != NVML_SUCCESS ||
                strcmp(is, info.bus) != 0)
                continue;
            known = true;
            struct record_watched *watched = &watch->gpu[watch->n_gpus];

            for (const struct record_field *f = record_during_fields; f->name; ++f) {
                struct record_series *series = (void *)((char *)&watched->during + f->offset);

                series->value = cli_alloc(RECORD_MOST_READINGS, sizeof *series->value);
            }
            memcpy(watched->bus, is, sizeof is);
            watch->device[watch->n_gpus++] = device;
        }
    }
}

static void read_all(struct node_watch *watch, bool after)
{
    for (int rest = 0; rest < 2; ++rest)
        for (int i = 0; i < watch->n_gpus; ++i)
            node_reading_read(&watch->nvml, watch->device[i], rest == 1,
                              after ? &watch->gpu[i].after : &watch->gpu[i].before);
}

void node_watch_begin(struct node_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    read_all(watch, false);
    watch->begin_ns = watch_ns(CLOCK_MONOTONIC);
    watch->reads = true;
    pthread_cond_signal(&watch->change);
    pthread_mutex_unlock(&watch->lock);
}

void node_watch_end(struct node_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->reads = false;
    pthread_cond_signal(&watch->change);
    read_all(watch, true);
    pthread_mutex_unlock(&watch->lock);
}

void node_watch_note(struct node_watch *watch, struct record_cell *cell)
{
    cell->sampling_ns = (double)NAN;
    if (!watch || watch->n_gpus == 0 || watch->begin_ns == 0)
        return;
    cell->sampling_ns = (double)watch->spent_ns;
    cell->gpu = watch->gpu;
    cell->n_gpus = watch->n_gpus;
    watch->gpu = NULL;
    watch->n_gpus = 0;
}

void node_watch_close(struct node_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->ends = true;
    pthread_cond_signal(&watch->change);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    close_watch(watch);
}
