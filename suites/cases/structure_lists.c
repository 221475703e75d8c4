/* structure_lists.c: area STRUCT: lists of four, through a wrapper without layers. */
#include "golden.h"
#include "structure.h"

/* Four inputs are returned unchanged, row by row, and so are their gradients. */
static void structure_four(struct check *c)
{
    const size_t n = 10;

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        for (int form = 0; form < 2; ++form) {
            struct impl_model *model =
                golden_parallel(c, k, "", form == 0 ? "" : "{\"kind\":\"sequence\",\"layers\":[]}");
            struct golden_call call = {.in = {golden_rows(c, n), golden_vector(c, n, 30, 1),
                                              golden_vector(c, n, 50, 3),
                                              golden_vector(c, n, 90, 2)},
                                       .n_in = 4};
            const struct impl_array *g[] = {golden_vector(c, n, 7, 2), golden_vector(c, n, 3, 1),
                                            golden_vector(c, n, 5, 4), golden_vector(c, n, 2, 6)};
            const struct impl_array *dx;

            check_note(c, "K=%d, %s: ", k, form == 0 ? "no layer" : "an empty sequence");
            golden_forward(c, model, &call);
            check_int(c, "outputs", call.n_out, 4);
            golden_is_sequence(c, "output 0", &call.out[0], 1, &n, 1, 1);
            golden_is_sequence(c, "output 1", &call.out[1], 1, &n, 30, 1);
            golden_is_sequence(c, "output 2", &call.out[2], 1, &n, 50, 3);
            golden_is_sequence(c, "output 3", &call.out[3], 1, &n, 90, 2);
            dx = golden_backward(c, model, &call, g);
            golden_is_sequence(c, "gradient of input 0", &dx[0], 1, &n, 7, 2);
            golden_is_sequence(c, "gradient of input 1", &dx[1], 1, &n, 3, 1);
            golden_is_sequence(c, "gradient of input 2", &dx[2], 1, &n, 5, 4);
            golden_is_sequence(c, "gradient of input 3", &dx[3], 1, &n, 2, 6);
            check_model_close(c, model);
        }
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { DP = PROFILE_DATAPARALLEL };

static const struct check_case cases[] = {
    {"STRUCT-01.four", "STRUCT-01", MUST, OBSERVED, DP, IMPL_CAP_PARALLEL, 1, structure_four, 0, 0,
     0},
};
const struct check_table structure_lists_table = CHECK_TABLE(cases);
