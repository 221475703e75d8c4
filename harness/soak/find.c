/* soak/find.c: the comparison, and what is kept of a difference. */
#include "soak/soak.h"

#include <stdio.h>
#include <string.h>

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

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A loop without a branch, many values at once; which one it was is looked for afterwards. */
static bool any_differs(const float got[], const float want[], float factor, size_t n)
{
    uint32_t differ = 0;

    for (size_t i = 0; i < n; ++i)
        differ |= bits_of(got[i]) ^ bits_of(want[i] * factor);
    return differ != 0;
}

bool soak_differ(const float got[], const float want[], float factor, size_t n,
                 struct soak_finding *finding)
{
    if (!any_differs(got, want, factor, n))
        return false;
    finding->differ = 0;
    finding->of = n;
    for (size_t i = n; i-- > 0;)
        if (bits_of(got[i]) != bits_of(want[i] * factor)) {
            ++finding->differ;
            finding->index = i;
            finding->got = bits_of(got[i]);
            finding->want = bits_of(want[i] * factor);
        }
    return true;
}

void soak_note(struct soak *soak, const struct soak_finding *finding)
{
    struct soak_found *found = &soak->found;

    if (finding->device >= 0)
        ++found->of[finding->device];
    if (found->kept < SOAK_KEPT)
        found->finding[found->kept++] = *finding;
    if (found->n++ < soak->options->shown && soak->options->format == SOAK_TEXT)
        soak_text_finding(soak, finding);
}
