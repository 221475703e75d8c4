/* stream.h: random numbers that are a function of a seed, a purpose and an index only. */
#ifndef WORKLOAD_STREAM_H
#define WORKLOAD_STREAM_H

#include <stddef.h>
#include <stdint.h>

/* The purposes of numbers: those of one purpose do not depend on how many another one took. */
enum stream_purpose {
    STREAM_OF_SPLIT = 101,
    STREAM_OF_ORDER,
    STREAM_OF_DATA,
    STREAM_OF_TEACHER,
    STREAM_OF_EXACT,
    STREAM_OF_AGAINST
};

struct stream {
    uint64_t state;
};

struct stream stream_open(uint64_t seed, enum stream_purpose purpose, uint64_t index);
size_t stream_below(struct stream *stream, size_t n); /* 0..n-1, all alike; n >= 1 */
double stream_normal(struct stream *stream);          /* mean 0, variance 1 */
/* Every order of index is alike (Fisher and Yates). */
void stream_shuffle(struct stream *stream, size_t index[], size_t n);

#endif
