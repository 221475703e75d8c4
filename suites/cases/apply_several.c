/* apply_several.c: area APPLY: calls with several inputs and outputs. */
#include "apply_calls.h"
#include "apply_cases.h"
#include "primitive.h"

/* Two inputs are multiplied. There are two outputs: the product, and each of its rows twice. */
static void apply_several(struct check *c)
{
    enum { ROWS = 3 };

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i) {
        const int *devices = primitive_order(c, k);
        struct impl_call *calls = apply_calls(c, devices, k, ROWS);

        check_note(c, "K=%d: ", k);
        for (int s = 0; s < k; ++s) {
            struct impl_array *in = check_memory(c, 2 * sizeof *in);

            in[0] = *check_on(check_vector(c, ROWS, check_sequence(c, ROWS, 1 + s, 1)), devices[s]);
            in[1] = *check_on(check_vector(c, ROWS, check_sequence(c, ROWS, 10, 5)), devices[s]);
            calls[s].in = in;
            calls[s].n_in = 2;
            calls[s].description =
                apply_module(c, "{\"kind\":\"multiply\",\"factor\":2},{\"kind\":\"fork\"}");
        }
        check_accepted(c, "status of apply", apply_try(c, calls, k));
        for (int s = 0; s < k; ++s) {
            double product[ROWS], doubled[2 * ROWS];

            for (int e = 0; e < ROWS; ++e)
                product[e] = doubled[2 * e] = doubled[2 * e + 1] = 2.0 * (1 + s + e) * (10 + 5 * e);
            check_int(c, check_text(c, "outputs of call %d", s), calls[s].n_out, 2);
            check_values(c, check_text(c, "first output of call %d", s), &calls[s].out[0], ROWS,
                         product);
            check_values(c, check_text(c, "second output of call %d", s), &calls[s].out[1],
                         (size_t)2 * ROWS, doubled);
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define APPLY .profiles = PROFILE_DATAPARALLEL, .needs = IMPL_CAP_APPLY

static const struct check_case cases[] = {
    {.id = "APPLY-03.several", .rule = "APPLY-03", APPLY, .devices = 1, .run = apply_several},
};
const struct check_table apply_several_table = CHECK_TABLE(cases);
