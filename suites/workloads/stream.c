/* stream.c: SplitMix64 (Steele, Lea, Flood 2014), and what is drawn from it. */
#include "stream.h"

#include <math.h>

static uint64_t stream_next(struct stream *stream)
{
    stream->state += 0x9e3779b97f4a7c15U;
    uint64_t x = stream->state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

struct stream stream_open(uint64_t seed, enum stream_purpose purpose, uint64_t index)
{
    struct stream stream = {.state = seed};

    stream.state = stream_next(&stream) ^ (uint64_t)purpose;
    stream.state = stream_next(&stream) ^ index;
    stream.state = stream_next(&stream);
    return stream;
}

size_t stream_below(struct stream *stream, size_t n)
{
    /* Numbers after the last whole multiple of n would make small results likelier. */
    const uint64_t end = UINT64_MAX - UINT64_MAX % n;
    uint64_t x = stream_next(stream);

    while (x >= end)
        x = stream_next(stream);
    return (size_t)(x % n);
}

/* from 0 to below 1 */
static double stream_uniform(struct stream *stream)
{
    return (double)(stream_next(stream) >> 11) * 0x1p-53;
}

double stream_normal(struct stream *stream)
{
    /* Box and Muller; u is never 0, whose logarithm is infinite. */
    const double u = 1 - stream_uniform(stream);
    const double v = stream_uniform(stream);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

void stream_shuffle(struct stream *stream, size_t index[], size_t n)
{
    for (size_t i = n; i > 1; --i) {
        const size_t j = stream_below(stream, i);
        const size_t kept = index[i - 1];

        index[i - 1] = index[j];
        index[j] = kept;
    }
}
