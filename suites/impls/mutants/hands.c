/* hands.c: the threads of a session, which run its jobs (jobs.c). */
#include "inside.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

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

struct hand *hand_begin(struct hands *hands, struct job *job)
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

void hand_end(struct hands *hands, struct hand *hand)
{
    wait_for(&hand->end);
    pthread_mutex_lock(&hands->lock);
    hand->busy = false;
    pthread_mutex_unlock(&hands->lock);
}

void hands_open(struct hands *hands)
{
    pthread_mutex_init(&hands->lock, NULL);
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
