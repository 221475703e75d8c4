/* torch_one.c: reads the file with the results of PyTorch's layers, runs one of them, and compares
 * it. The case fails if something cannot be read. */
#include "torch_one.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the whole file in case memory, ended by 0. */
static char *torch_file_read_file(struct context *c)
{
    FILE *file = fopen(TORCH_LAYERS, "rb");
    if (!file)
        case_fail(c, "%s cannot be opened", TORCH_LAYERS);
    (void)fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    (void)fseek(file, 0, SEEK_SET);
    char *text = size > 0 ? calloc(1, (size_t)size + 1) : NULL;
    const size_t got = text ? fread(text, 1, (size_t)size, file) : 0;
    (void)fclose(file);
    char *copy = case_memory(c, (size_t)size + 1);
    if (text)
        memcpy(copy, text, got);
    free(text);
    expect(c, size > 0 && got == (size_t)size, "%s cannot be read", TORCH_LAYERS);
    return copy;
}

/* Cuts the line that begins at *at; NULL past the end. */
static char *next_line(char **at)
{
    char *line = *at;
    if (*line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    *at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return line;
}

static int read_numbers(char *text, double values[], int capacity)
{
    int n = 0;
    char *end;
    for (double value = strtod(text, &end); end != text; value = strtod(text, &end)) {
        if (n < capacity)
            values[n] = value;
        ++n;
        text = end;
    }
    return n;
}

static void read_tensor(struct context *c, struct torch_tensor *t, char *head, char *values)
{
    char kind[8] = "";
    int used = 0;
    double dims[DP_MAX_DIMS];
    expect(c, values != NULL && sscanf(head, "tensor %23s %7s %n", t->name, kind, &used) == 2,
           "\"%s\" is no tensor", head);
    t->exact = strcmp(kind, "exact") == 0;
    t->ndim = read_numbers(head + used, dims, DP_MAX_DIMS);
    expect(c, t->ndim <= DP_MAX_DIMS && (t->exact || strcmp(kind, "near") == 0), "%s: \"%s\"",
           t->name, head);
    t->n = 1;
    for (int d = 0; d < t->ndim; ++d) {
        t->dim[d] = (size_t)dims[d];
        t->n *= t->dim[d];
    }
    t->value = case_memory(c, t->n * sizeof *t->value);
    t->bound = case_memory(c, t->n * sizeof *t->bound);
    const size_t count = t->exact ? t->n : 2 * t->n;
    double *all = case_memory(c, count * sizeof *all);
    expect(c, read_numbers(values, all, (int)count) == (int)count, "%s: not %zu numbers", t->name,
           count);
    for (size_t i = 0; i < t->n; ++i) {
        t->value[i] = all[t->exact ? i : 2 * i];
        t->bound[i] = t->exact ? 0.0 : all[2 * i + 1];
    }
}

/* Reads the layer whose head was read; its tensors are the lines up to the next layer. */
static void read_layer(struct context *c, struct torch_layer *layer, char *head, char *at)
{
    int used = 0;
    *layer = (struct torch_layer){.n_tensors = 0};
    expect(c, sscanf(head, "layer %23s %n", layer->name, &used) == 1, "\"%s\" is no layer", head);
    layer->n_numbers = read_numbers(head + used, layer->number, TORCH_NUMBERS);
    char *line = next_line(&at);
    for (; line && strncmp(line, "tensor ", 7) == 0; line = next_line(&at)) {
        expect(c, layer->n_tensors < TORCH_TENSORS, "too many tensors");
        read_tensor(c, &layer->tensor[layer->n_tensors++], line, next_line(&at));
    }
    expect(c, line != NULL, "%s ends in the middle", TORCH_LAYERS);
}

/* Line number skip, from 0, of those that begin a layer of that name; NULL: there are fewer. */
static char *find_head(char **at, const char *name, int skip)
{
    const size_t length = strlen(name);
    for (char *line = next_line(at); line; line = next_line(at))
        if (strncmp(line, "layer ", 6) == 0 && strncmp(line + 6, name, length) == 0 &&
            line[6 + length] == ' ' && skip-- == 0)
            return line;
    return NULL;
}

void torch_each(struct context *c, const char *name,
                void (*function)(struct context *c, const struct torch_layer *layer))
{
    int found = 0;
    for (;; ++found) {
        case_release(c);
        char *at = torch_file_read_file(c), *head = find_head(&at, name, found);
        if (!head)
            break;
        struct torch_layer layer;
        case_note(c, "%s number %d", name, found);
        read_layer(c, &layer, head, at);
        function(c, &layer);
    }
    expect(c, found > 0, "%s has no %s", TORCH_LAYERS, name);
}

const struct torch_tensor *torch_find(struct context *c, const struct torch_layer *layer,
                                      const char *name)
{
    for (int i = 0; i < layer->n_tensors; ++i)
        if (strcmp(layer->tensor[i].name, name) == 0)
            return &layer->tensor[i];
    case_fail(c, "%s has no tensor %s", layer->name, name);
}

/* ---- one layer ------------------------------------------------------------------------------- */

void torch_open(struct context *c, struct torch_one *o)
{
    const struct one one = open_one(c, 1);
    *o = (struct torch_one){one.group, one.slot, one.run, NULL};
}

struct dp_tensor torch_put(struct context *c, const struct torch_one *o, enum dp_dtype dtype,
                           const struct torch_tensor *t)
{
    return make_tensor(c, o->slot, dtype, t->ndim, t->dim, t->value);
}

void torch_expect(struct context *c, const struct torch_tensor *want, const struct dp_tensor *got)
{
    expect_shape(c, want->name, got, want->ndim, want->dim);
    if (want->exact)
        expect_values(c, want->name, got, want->value);
    else
        expect_within(c, want->name, got, want->value, want->bound);
}

/* Finds the parameter of a tensor in the file: "weight_ih" is "weight_ih_l0" of the layer. */
static struct dp_param *find_param(struct context *c, struct dp_module *module, const char *name)
{
    struct dp_param *list[16];
    const int n = dp_module_params(module, list, 16);
    const size_t length = strlen(name);
    for (int i = 0; i < n && i < 16; ++i) {
        const char *rest = list[i]->name + length;
        if (strncmp(list[i]->name, name, length) == 0 &&
            (*rest == '\0' || strcmp(rest, "_l0") == 0))
            return list[i];
    }
    case_fail(c, "the layer has no parameter %s", name);
}

void torch_set_params(struct context *c, const struct torch_one *o, const struct torch_layer *layer,
                      const char *const names[], int n)
{
    for (int i = 0; i < n; ++i) {
        const struct torch_tensor *t = torch_find(c, layer, names[i]);
        const struct dp_param *p = find_param(c, o->module, names[i]);
        expect_shape(c, names[i], &p->value, t->ndim, t->dim);
        write_values(c, &p->value, t->value);
    }
    move_module(c, o->module, o->slot);
}

void torch_expect_grads(struct context *c, const struct torch_one *o,
                        const struct torch_layer *layer, const char *const names[], int n)
{
    for (int i = 0; i < n; ++i) {
        char name[24] = "d";
        strcat(name, names[i]);
        const struct dp_param *p = find_param(c, o->module, names[i]);
        expect(c, p->has_grad, "%s has no gradient", names[i]);
        torch_expect(c, torch_find(c, layer, name), &p->grad);
    }
}

/* It runs twice, so that memory of the first step is used again. */
void torch_run_both_ways(struct context *c, const struct torch_one *o,
                         const struct torch_layer *layer, const char *const names[], int n, bool dx)
{
    struct dp_tensor x = torch_put(c, o, DP_F32, torch_find(c, layer, "x"));
    const struct dp_tensor dy = torch_put(c, o, DP_F32, torch_find(c, layer, "dy"));
    x.needs_grad = dx;
    for (int round = 0; round < 2; ++round) {
        dp_run_reset(o->run);
        dp_zero_grad(o->module);
        const struct dp_tensor y = forward(c, o->module, o->run, &x);
        torch_expect(c, torch_find(c, layer, "y"), &y);
        const struct dp_tensor grad = backward(c, o->module, o->run, &dy);
        torch_expect_grads(c, o, layer, names, n);
        if (dx)
            torch_expect(c, torch_find(c, layer, "dx"), &grad);
    }
    expect_values(c, "x afterwards", &x, torch_find(c, layer, "x")->value);
}

const char *const torch_weight_bias[] = {"weight", "bias"};
