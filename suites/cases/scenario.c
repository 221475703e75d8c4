/* scenario.c: says on what a case works, for a failure: the model as it was opened, its ranks, the
 * inputs of its last forward, and the calls up to then. All models and forwards of cases pass here,
 * so that no case has to say it. */
#include "inside.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 4, MODEL_BYTES = 560 };

struct words {
    char *text;
    size_t bytes, used;
};

static void put(struct words *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const bool doubled = from[i] == ' ' && to->used > 0 && to->text[to->used - 1] == ' ';

        if (!doubled && to->used + 1 < to->bytes)
            to->text[to->used++] = from[i];
    }
    to->text[to->used] = '\0';
}

static void put_text(struct words *to, const char *text)
{
    put(to, text, strlen(text));
}

/* Writes a list that begins here, if it is one of many numbers: the first of them. Returns its
 * length, or 0. */
static size_t put_numbers(struct words *to, const char *at)
{
    const size_t length = strspn(at, "[0123456789.,+-e ");
    char count[40];
    size_t n = 1;

    for (size_t i = 0; i < length; ++i)
        n += at[i] == ',';
    if (at[length] != ']' || n <= MOST_SHOWN)
        return 0;
    for (size_t i = 0, shown = 0; shown < MOST_SHOWN; ++i) {
        put(to, at + i, 1);
        put_text(to, at[i] == ',' ? " " : "");
        shown += at[i] == ',';
    }
    snprintf(count, sizeof count, ".. %zu numbers]", n);
    put_text(to, count);
    return length + 1;
}

/* Writes the description of LAYERS.md as people write it: {"kind":"affine","weight":[2]} becomes
 * "affine (weight [2])". */
static void put_model(struct words *to, const char *at)
{
    static const char kind[] = "{\"kind\":\"", host[] = "\"device\":-1,";
    static const struct {
        char from;
        const char *to;
    } marks[] = {{'"', ""}, {':', " "}, {',', ", "}, {'{', "("}, {'}', ")"}};

    while (*at != '\0') {
        const bool is_kind = strncmp(at, kind, strlen(kind)) == 0;
        const size_t n = is_kind      ? strcspn(at + strlen(kind), "\"")
                         : *at == '[' ? put_numbers(to, at)
                                      : 0;
        size_t mark = 0;

        if (strncmp(at, host, strlen(host)) == 0) {
            at += strlen(host);
        } else if (is_kind) {
            put(to, at + strlen(kind), n);
            at += strlen(kind) + n + 2; /* the quote, and the comma or the end */
            if (at[-1] != '}')
                put_text(to, " (");
        } else if (n > 0) {
            at += n;
        } else {
            while (mark < sizeof marks / sizeof marks[0] && marks[mark].from != *at)
                ++mark;
            if (mark < sizeof marks / sizeof marks[0])
                put_text(to, marks[mark].to);
            else
                put(to, at, 1);
            ++at;
        }
    }
}

void scenario_model(struct check *c, const char *description, int ranks)
{
    static const struct {
        const char *from, *to;
    } plain[] = {{"{\"layers\":[", ""},
                 {"{\"device\":-1,\"layers\":[", ""},
                 {"{\"device\":-1,\"find_unused\":true,\"layers\":[", "find_unused; "}};
    char *text = check_memory(c, MODEL_BYTES + 4), own[64];
    struct words to = {.text = text, .bytes = MODEL_BYTES};
    size_t before = 0;

    snprintf(own, sizeof own, "%d ranks; ", ranks);
    put_text(&to, ranks > 1 ? own : "");
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; ++i)
        if (strncmp(description, plain[i].from, strlen(plain[i].from)) == 0) {
            before = strlen(plain[i].from);
            put_text(&to, plain[i].to);
        }
    put_model(&to, description + before);
    if (to.used + 1 == MODEL_BYTES)
        strcpy(text + to.used, " ..");
    else if (before > 0 && to.used >= 2) /* the end of its list of layers */
        text[to.used - 2] = '\0';
    c->scenario = text;
    c->inputs[0] = '\0';
    c->n_calls = 0;
}

void scenario_call(struct check *c, const char *what)
{
    c->calls[c->n_calls++ % CALLS_SHOWN] = what;
}

void scenario_forward(struct check *c, const struct impl_model *model,
                      const struct impl_forward *op)
{
    struct words to = {.text = c->inputs, .bytes = sizeof c->inputs};
    const struct impl_array *in = op->in;
    char shape[120];
    int n = op->n_in;

    for (const struct open_model *open = c->models; open; open = open->next)
        if (open->model == model) {
            c->n_calls = c->scenario == open->scenario ? c->n_calls : 0;
            c->scenario = open->scenario;
            n = op->n_in * open->ranks;
        }
    c->local = op->no_sync ? model : c->local == model ? NULL : c->local;
    scenario_call(c, op->no_sync  ? "forward in no_sync"
                     : op->active ? "forward in join"
                     : !op->grad  ? "forward without gradients"
                                  : "forward");
    for (int i = 0; i < n && i <= MOST_SHOWN; ++i) {
        check_shape_text(&in[i], shape);
        put_text(&to, i > 0 ? ", " : n > 1 ? "; inputs " : "; input ");
        put_text(&to, i == MOST_SHOWN ? ".." : in[i].dtype == IMPL_NONE ? "none" : shape);
    }
}

void scenario_write(const struct check *c, char *text, size_t bytes)
{
    const size_t first = c->n_calls > CALLS_SHOWN ? c->n_calls - CALLS_SHOWN : 0;
    struct words to = {.text = text, .bytes = bytes};

    put_text(&to, c->scenario ? c->scenario : "");
    put_text(&to, c->inputs);
    for (size_t i = first; i < c->n_calls; ++i) {
        put_text(&to, i > first ? ", " : first > 0 ? "; calls .. " : "; calls ");
        put_text(&to, c->calls[i % CALLS_SHOWN]);
    }
    check_clean(text, bytes);
}
