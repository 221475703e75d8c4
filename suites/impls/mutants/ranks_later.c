/* ranks_later.c: bugs of ranks that show after a failure, after many steps, or with another
 * learning rate. The error of a rank names the rank, and no more devices than the error of its
 * layer. */
#include "ranks.h"

#include <string.h>

int rank_failed(struct ranks *ranks, int r, struct impl_error *err)
{
    const struct impl_session *s = ranks->session;
    const struct impl_error own = *err;
    const int status = bug(s, BUG_RANK_ERROR_KIND) ? IMPL_EFAULT : own.status;

    ranks->failed = r;
    ranks->erred = true;
    err->status = IMPL_OK; /* the first error wins */
    impl_fail(err, status, "rank %d: %.230s", r,
              bug(s, BUG_RANK_ERROR_TEXT) ? "it failed" : own.text);
    err->replica = bug(s, BUG_RANK_ERROR_FIRST) ? 0 : r;
    err->device = bug(s, BUG_RANK_ERROR_DEVICE) ? 0 : own.device;
    err->device_also = own.device_also;
    return err->status;
}

bool rank_unsent(struct ranks *ranks)
{
    const bool seldom = bug(ranks->session, BUG_RANKS_65) && ++ranks->backwards % 65 == 0;

    return seldom || (ranks->failed >= 0 && bug(ranks->session, BUG_RANK_UNSENT));
}

bool rank_missing(const struct ranks *ranks, int r)
{
    return r == ranks->failed && bug(ranks->session, BUG_RANK_LEFT_OUT);
}

float rank_rate(struct ranks *ranks, int r, float asked)
{
    if (!ranks->stepped)
        ranks->rate = asked;
    ranks->stepped = true;
    return r > 0 && bug(ranks->session, BUG_RATE_RANKS) ? ranks->rate : asked;
}
