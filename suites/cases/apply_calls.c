/* apply_calls.c: makes the calls of parallel_apply. */
#include "apply_calls.h"

struct impl_call *apply_calls(struct check *c, const int devices[], int n, size_t rows)
{
    struct impl_call *calls = check_memory(c, (size_t)n * sizeof *calls);

    for (int i = 0; i < n; ++i) {
        calls[i].device = devices[i];
        calls[i].in =
            check_on(check_column(c, rows, check_sequence(c, rows, 1 + 10.0 * i, 1)), devices[i]);
        calls[i].n_in = 1;
        calls[i].out = check_output(c, IMPL_MAX_IO, 16 * rows);
    }
    return calls;
}

const char *apply_module(struct check *c, const char *layers)
{
    return check_text(c, "{\"layers\":[%s]}", layers);
}

int apply_try(struct check *c, struct impl_call *calls, int n)
{
    struct impl_apply op = {.calls = calls, .n = n, .grad = true, .train = true};

    return check_try_apply(c, &op);
}
