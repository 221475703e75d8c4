/* torch_one.c: see torch_one.h. */
#include "torch_one.h"

#include <string.h>

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
