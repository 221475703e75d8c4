/* soak/replay.c: the command that computes an iteration again.
 *
 * The iteration before it comes first: a part can be left over from that one, and DDP reduces in
 * one bucket in the first iteration of a run. Devices that go wrong on purpose count their steps
 * from the beginning of a run, so a replay of theirs begins there, too. */
#include "soak/soak.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *given(const char *text, const char *option)
{
    return text[0] == '\0' ? "" : option;
}

void soak_replay(const struct soak_options *options, uint64_t iteration, char text[SOAK_REPLAY])
{
    const struct soak_options *o = options;
    const bool counts_steps = strstr(o->devices, "+fault:") != NULL;
    const uint64_t first = counts_steps ? o->first : iteration > 1 ? iteration - 1 : 1;

    snprintf(text, SOAK_REPLAY,
             "lockstep soak --devices %s%s%s%s%s --mode %s --workload %s --batch %zu --seed "
             "%" PRIu64 " --limit %g --first %" PRIu64 " --iterations %" PRIu64,
             o->devices, given(o->backend, " --backend "), o->backend,
             given(o->communicator, " --communicator "), o->communicator, soak_mode_words[o->mode],
             o->workload.name, o->rows, o->seed, o->limit, first, iteration - first + 1);
}
