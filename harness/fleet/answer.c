/* fleet/answer.c: what to do with a fleet: which nodes to take out, which to measure again, and why
 * each. */
#include "fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "numbers/stats.h"
#include "text/alloc.h"

/* With more outlying or REJECTED nodes than this the sentence does not say how far each is. */
enum { REASON = 2 * FLEET_CAUSE + 16, MANY = 12 };

struct reason {
    const struct fleet_node *node;
    int rank;
    size_t first; /* the first node with this reason */
    char words[REASON];
};

/* The worst come first, then names count; nodes of one reason stay together. */
static int by_reason(const void *left, const void *right)
{
    const struct reason *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank - b->rank;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return strcmp(a->node->name, b->node->name);
}

/* Where the digits at the end of a name begin. */
static size_t number_in_name(const char *name)
{
    size_t at = strlen(name);

    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        --at;
    return at;
}

/* "node0021 (26 % slower than the others), node[0033-0040] (no verdict)": n reasons, in order. */
static void print_reasons(FILE *to, const struct reason reason[], size_t n)
{
    for (size_t i = 0, last; i < n; i = last + 1) {
        const char *const name = reason[i].node->name;
        const size_t at = number_in_name(name);

        for (last = i; last + 1 < n; ++last) {
            const char *const here = reason[last].node->name, *next = reason[last + 1].node->name;

            if (strcmp(reason[i].words, reason[last + 1].words) != 0 ||
                strlen(here) != strlen(next) || at != number_in_name(next) ||
                strncmp(here, next, at) != 0 ||
                strtoull(next + at, NULL, 10) != strtoull(here + at, NULL, 10) + 1)
                break;
        }
        fputs(i == 0 ? "" : ", ", to);
        if (last == i)
            fputs(name, to);
        else
            fprintf(to, "%.*s[%s-%s]", (int)number_in_name(name), name, name + number_in_name(name),
                    reason[last].node->name + number_in_name(name));
        if (last + 1 == n || strcmp(reason[i].words, reason[last + 1].words) != 0)
            fprintf(to, " (%s)", reason[i].words);
    }
}

char *fleet_answer(const struct fleet *fleet)
{
    static const int ranks[FLEET_STATUSES] = {[FLEET_REJECTED] = 0,
                                              [FLEET_ACCEPTED] = 1,
                                              [FLEET_BROKEN] = 2,
                                              [FLEET_MISSING] = 3,
                                              [FLEET_NOT_SHOWN] = 4};
    static const char *const ends[] = {
        ". Without --expect a node that has no verdict does not show.", "."};
    struct reason *reason = cli_alloc(fleet->n, sizeof *reason);
    const struct fleet_rule *rule = &fleet->rule;
    struct memory_file text = {.to = NULL};
    size_t n = 0, out = 0, untested = 0;
    char but[64] = "", unjudged[FLEET_TEXT];

    for (size_t i = 0; i < fleet->n; ++i) {
        const struct fleet_node *node = &fleet->node[i];
        struct reason *one = &reason[n];

        if (fleet_passes(node))
            continue;
        *one = (struct reason){.node = node, .rank = ranks[node->status], .words = "no verdict"};
        text_add(one->words, REASON, "%s%s", node->cause[0] != '\0' ? ": " : "", node->cause);
        if (node->worse > 0 && node->status != FLEET_REJECTED) {
            one->rank = ranks[FLEET_ACCEPTED];
            if (fleet->outlying > MANY)
                snprintf(one->words, REASON, "%.*s worse than the others",
                         (int)strcspn(node->worst->limit->name, " "), node->worst->limit->name);
            else
                fleet_worse_words(node->worst, one->words, REASON);
        } else if (node->status != FLEET_MISSING) {
            snprintf(one->words, REASON, "%s: %s%s", fleet_status_words[node->status], node->cause,
                     fleet->count[FLEET_REJECTED] > MANY ? "" : node->far);
        }
        while (one->first < n && (reason[one->first].rank != one->rank ||
                                  strcmp(reason[one->first].words, one->words) != 0))
            ++one->first;
        untested += node->untested;
        out += one->rank < ranks[FLEET_NOT_SHOWN];
        ++n;
    }
    if (untested > 0)
        snprintf(but, sizeof but, ", but correctness was not tested on %zu", untested);
    fleet_unjudged_words(fleet, unjudged);
    memory_file_open(&text);
    qsort(reason, n, sizeof *reason, by_reason);
    if (out > 0)
        fprintf(text.to, "Take out %zu of %zu: ", out, fleet->n);
    else
        fprintf(text.to, "Take out none of %zu%s", fleet->n, but);
    print_reasons(text.to, reason, out);
    fputs(unjudged, text.to);
    if (n > out) {
        fprintf(text.to, ". Measure %zu again: ", n - out);
        print_reasons(text.to, reason + out, n - out);
    } else if (out == 0) {
        fprintf(text.to, ": %s limits", fleet->n == 1 ? "it keeps its" : "all keep their");
        if (rule->comparisons > 0)
            fprintf(text.to, ", and none is shown to be worse (numbers compared: %zu)",
                    rule->series - rule->small);
        else
            fprintf(text.to, ". Nodes were not compared: that takes at least %d of them",
                    OUTLIER_LEAST);
    }
    fputs(ends[fleet->expects], text.to);
    free(reason);
    return memory_file_close(&text);
}
