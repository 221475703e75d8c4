/* device_counts.c: the numbers of devices and of ranks with which cases run. Only this file defines
 * them: a few counts always, and one more that the seed chooses for each case. A run of many cases
 * has all of them, and another seed distributes them anew. */
#include "ddp.h"
#include "inside.h"

#include <stdio.h>

enum { MOST = 12, FEWEST_RANKS = 2, MOST_HERE = 9 };

static bool always(int count)
{
    static const int counts[] = {1, 2, 3, 4, 5, 8}; /* RULES.md has many numbers for 4 */

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
        if (counts[i] == count)
            return true;
    return false;
}

/* Hashes the name of the case (FNV-1a) and the seed. */
static uint64_t counts_draw(const struct check *c)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *at = c->test->id; *at != '\0'; ++at)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return (hash >> 32) + check_seed(c);
}

/* Chooses one of the counts up to `most` that are not always used; 0: there is none. */
static int seeded(const struct check *c, int most)
{
    uint64_t n = 0, left;

    for (int count = 1; count <= most; ++count)
        n += !always(count);
    if (n == 0)
        return 0;
    left = counts_draw(c) % n;
    for (int count = 1; count <= most; ++count)
        if (!always(count) && left-- == 0)
            return count;
    return 0;
}

static int nth(const struct check *c, int i, int fewest, int most)
{
    const int other = seeded(c, most);

    for (int count = fewest; count <= most; ++count)
        if ((always(count) || count == other) && i-- == 0)
            return count;
    return 0;
}

static int at_most(int devices)
{
    return devices < MOST ? devices : MOST;
}

int check_count(const struct check *c, int i)
{
    return nth(c, i, 1, at_most(check_devices(c)));
}

int check_ranks(const struct check *c, int i)
{
    /* Without devices the number of ranks has no other limit. */
    const int most = check_devices(c) < FEWEST_RANKS ? MOST : at_most(check_devices(c));

    return nth(c, i, FEWEST_RANKS, most);
}

static void end_turn(struct check *c)
{
    while (c->models)
        check_model_close(c, c->models->model);
}

void check_turns(struct check *c)
{
    const struct check_case *test = c->test;

    if (test->run)
        test->run(c);
    for (int i = 0, k; test->each && (k = check_count(c, i)) != 0; ++i) {
        if (k < test->devices)
            continue;
        check_note(c, "K=%d: ", k);
        c->parts = k;
        c->of_ranks = false;
        test->each(c, k);
        end_turn(c);
    }
    for (int i = 0, ranks; test->ranks && (ranks = ddp_ranks(i)) != 0; ++i) {
        check_note(c, "R=%d: ", ranks);
        c->parts = ranks;
        c->of_ranks = true;
        test->ranks(c, ranks);
        end_turn(c);
    }
}

/* Lists the counts that are always used, or the others. Returns how many there are. */
static int list(char *text, size_t bytes, int first, int last, bool fixed)
{
    size_t used = 0;
    int n = 0;

    text[0] = '\0';
    for (int count = first; count <= last; ++count)
        if (always(count) == fixed && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%d", n++ > 0 ? ", " : "", count);
    return n;
}

void check_counts_text(int devices, uint64_t seed, char *text, size_t bytes)
{
    char here[64], others[64], missing[64];
    const int most = at_most(devices), n = list(others, sizeof others, 1, most, false);
    const int lacking = list(missing, sizeof missing, devices + 1, MOST, true);
    const char *before = n == 0 ? "" : n == 1 ? ", and " : ", and in each case one of ";

    list(here, sizeof here, 1, most, true);
    snprintf(text, bytes, "%s devices%s%s (seed %llu)%s%s%s%s", here, before, others,
             (unsigned long long)seed, devices < MOST_HERE ? "; more are needed for " : "", missing,
             lacking > 0 ? ", " : "", devices < MOST_HERE ? "9 and above" : "");
}

const int *mixed_ids(int k)
{
    static const int lists[][MOST] = {{0},
                                      {1, 0},
                                      {2, 0, 1},
                                      {2, 0, 3, 1},
                                      {3, 0, 4, 2, 1},
                                      {4, 1, 5, 0, 3, 2},
                                      {3, 6, 1, 4, 0, 5, 2},
                                      {5, 2, 7, 0, 3, 6, 1, 4},
                                      {6, 2, 8, 0, 4, 7, 1, 5, 3},
                                      {7, 3, 9, 0, 5, 8, 1, 6, 4, 2},
                                      {8, 3, 10, 1, 6, 0, 9, 4, 7, 2, 5},
                                      {9, 4, 11, 2, 7, 0, 10, 5, 8, 3, 1, 6}};

    return k >= 1 && k <= MOST ? lists[k - 1] : NULL;
}
