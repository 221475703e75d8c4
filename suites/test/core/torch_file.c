/* torch_file.c: reads the file with the results of PyTorch's layers. The case fails if something
 * cannot be read. */
#include "torch_file.h"

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
