/* ddp_unlike.c: cases of area DDP: each rank has another description. */
#include "ddp.h"

#define PLAIN(weight) "{\"kind\":\"affine\",\"weight\":[" weight "],\"with_bias\":false}"
#define TIED(weight)  "{\"kind\":\"tied\",\"weight\":[" weight "]}"

/* Returns "[first, other, ..]" with an entry for each rank; rank `unlike` has the other one. */
static const char *descriptions(struct check *c, int ranks, int unlike, const char *first,
                                const char *other)
{
    const char *text = "[";

    for (int r = 0; r < ranks; ++r)
        text = check_text(c, "%s%s%s", text, r > 0 ? "," : "", r == unlike ? other : first);
    return check_text(c, "%s]", text);
}

/* ---- DDP-07: rank 0's are sent when the model is made ---------------------------------------- */

/* The parameters of rank r are weight, bias, count, frozen weight: 3 + r, 10 - r, 5 + 20r, 7 +
 * r. */
static void ddp_unlike_values(struct check *c, int ranks)
{
    const char *text = "[";
    struct impl_model *model;

    for (int r = 0; r < ranks; ++r)
        text = check_text(c,
                          "%s%s" DDP_MODEL("{\"kind\":\"affine\",\"weight\":[%d],"
                                           "\"bias\":[%d]},"
                                           "{\"kind\":\"counter\",\"count\":[%d]},"
                                           "{\"kind\":\"affine\",\"weight\":[%d],"
                                           "\"with_bias\":false,\"frozen\":true}"),
                          text, r > 0 ? "," : "", 3 + r, 10 - r, 5 + 20 * r, 7 + r);
    model = check_ddp_model(c, ranks, check_text(c, "%s]", text));
    ddp_all_is(c, model, ranks, IMPL_VALUE, 0, 3);
    ddp_all_is(c, model, ranks, IMPL_VALUE, 1, 10);
    ddp_all_is(c, model, ranks, IMPL_VALUE, 2, 5);
    ddp_all_is(c, model, ranks, IMPL_VALUE, 3, 7);
}

/* ---- DDP-25: number and shapes are compared -------------------------------------------------- */

static const struct {
    const char *what;
    int ranks;
    const char *first, *other;
} unlike[] = {
    {"one parameter more", 2, DDP_MODEL(PLAIN("2")), DDP_MODEL(PLAIN("2") "," PLAIN("2"))},
    {"no bias", 4, DDP_MODEL(DDP_AFFINE), DDP_MODEL(PLAIN("2"))},
    {"two columns for three", 4, DDP_MODEL("{\"kind\":\"linear\",\"in\":3,\"out\":2}"),
     DDP_MODEL("{\"kind\":\"linear\",\"in\":2,\"out\":2}")},
    {"as many elements in another shape", 2,
     DDP_MODEL("{\"kind\":\"linear\",\"in\":3,\"out\":2,\"with_bias\":false}"),
     DDP_MODEL("{\"kind\":\"linear\",\"in\":2,\"out\":3,\"with_bias\":false}")},
};
enum { UNLIKE = sizeof unlike / sizeof unlike[0] };

/* The last rank is different. A model of ranks that fit works afterwards. */
static void ddp_unlike_shapes(struct check *c)
{
    static const double x[2] = {1, 10};
    struct impl_model *model;
    struct ddp_call call = ddp_rows(c, 2, x);

    for (int i = 0; i < UNLIKE; ++i) {
        const int last = unlike[i].ranks - 1;
        int status;

        check_note(c, "rank %d of %d with %s: ", last, unlike[i].ranks, unlike[i].what);
        status = check_try_model(
            c, descriptions(c, unlike[i].ranks, last, unlike[i].first, unlike[i].other),
            unlike[i].ranks, &model);
        if (status == IMPL_ENODEV && unlike[i].ranks > check_devices(c))
            continue; /* of any shapes */
        check_refused(c, "model_open", status, DDP_REFUSALS);
    }
    check_note(c, "all alike: ");
    model = check_ddp_model(c, 2, DDP_MODEL(PLAIN("2")));
    ddp_pass(c, model, &call);
    ddp_all_is(c, model, 2, IMPL_GRAD, 0, 5.5);
}

/* ---- DDP-26: their order is not -------------------------------------------------------------- */

/* Rank 0 has y = b(b(ax)), the last rank y = c(ddx), with c before d in memory: the first weights
 * of both are added, although their uses differ, and so are the second ones. After those of rank 0
 * were sent, a = d = 2 and b = c = 3. */
static void ddp_unlike_order(struct check *c)
{
    static const double x[2] = {1, 10};
    struct impl_model *model =
        check_ddp_model(c, 2,
                        descriptions(c, 2, 1, DDP_MODEL(PLAIN("2") "," TIED("3")),
                                     DDP_MODEL(TIED("2") "," PLAIN("3"))));

    for (int turn = 1; turn <= 3; ++turn) {
        struct ddp_call call = ddp_rows(c, 2, x);

        check_note(c, "step %d: ", turn);
        ddp_pass(c, model, &call);
        check_values(c, "output of rank 0", call.out[0][0], 1, (const double[]){3 * 3 * 2 * x[0]});
        check_values(c, "output of rank 1", call.out[1][0], 1, (const double[]){3 * 2 * 2 * x[1]});
        ddp_grads_are(c, model, 2, turn * (9 * x[0] + 12 * x[1]) / 2,
                      turn * (12 * x[0] + 4 * x[1]) / 2);
    }
}

static const struct check_case cases[] = {
    {"DDP-07.sent", "DDP-07", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_UNLIKE_RANKS, 0,
     .ranks = ddp_unlike_values},
    {"DDP-25.shapes", "DDP-25", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_UNLIKE_RANKS, 0,
     ddp_unlike_shapes, 30000},
    {"DDP-26.order", "DDP-26", MAY, OBSERVED, DDP, IMPL_CAP_DDP | IMPL_CAP_UNLIKE_RANKS, 0,
     ddp_unlike_order},
};
const struct check_table ddp_unlike_table = CHECK_TABLE(cases);
