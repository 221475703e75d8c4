/* validate/match.c: whether records are of a machine that a profile is for. A profile held against
 * another machine has no verdict at all. */
#include "validate/validate.h"

#include <stdlib.h>
#include <string.h>

static int refuse(struct text_error *why, const char *what, const char *wanted, const char *is)
{
    snprintf(why->text, sizeof why->text,
             "the profile is for %s '%.80s', the records are of '%.80s'", what, wanted, is);
    return -1;
}

static int match_text(struct text_error *why, const char *what, const char *wanted, const char *is)
{
    return !wanted || strcmp(wanted, is) == 0
               ? 0
               : refuse(why, what, wanted, is[0] != '\0' ? is : "unknown");
}

static int match_count(struct text_error *why, const char *what, uint64_t wanted, int is)
{
    char a[24], b[24];

    if (wanted == 0 || wanted == (uint64_t)is)
        return 0;
    snprintf(a, sizeof a, "%llu", (unsigned long long)wanted);
    snprintf(b, sizeof b, "%d", is);
    return refuse(why, what, a, b);
}

/* Every GPU has to be of that model: seven of eight are another machine. */
static int match_gpus(const struct profile_match *match, const struct record_run *run,
                      struct text_error *why)
{
    int gpus = 0;

    for (int i = 0; i < run->n_slots; ++i) {
        if (run->slot[i].model[0] == '\0')
            continue;
        ++gpus;
        if (match_text(why, "GPU", match->gpu_model, run->slot[i].model) != 0)
            return -1;
    }
    if (match->gpu_model && gpus == 0)
        return refuse(why, "GPU", match->gpu_model, "none");
    return match_count(why, "a number of GPUs of", match->gpus, gpus);
}

int validate_match(const struct profile *profile, const struct report *report,
                   struct text_error *why)
{
    const struct profile_match *match = &profile->match;

    for (size_t f = 0; f < report->n_files; ++f) {
        const struct record_run *run = &report->file[f].run;

        if (match_text(why, "the class of machine", match->machine_class, run->machine_class) ||
            match_text(why, "the processor", match->cpu_model, run->cpu_model) ||
            match_count(why, "a number of cores of", match->cores, run->cores) ||
            match_gpus(match, run, why))
            return -1;
    }
    return 0;
}
