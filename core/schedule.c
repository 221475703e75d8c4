/* schedule.c: learning rates as functions of the step. */
#include "dp.h"

#include <math.h>

double dp_cosine_rate(const struct dp_cosine *cosine, uint64_t step)
{
    const double pi = 3.14159265358979323846;
    if (step < cosine->warmup)
        return cosine->lr * ((double)step + 1.0) / ((double)cosine->warmup + 1.0);
    if (step >= cosine->total)
        return cosine->least;
    const double part = (double)(step - cosine->warmup) / (double)(cosine->total - cosine->warmup);
    return cosine->least + (cosine->lr - cosine->least) * 0.5 * (1.0 + cos(pi * part));
}
