/* check.c: tests of the foundations of conformance cases: comparisons must be able to fail, and
 * damage to the suite's memory by an implementation must be seen. The implementation here is a
 * split and a gather that misbehave as told. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "inside.h"

enum misdeed {
    GOOD,
    WRITES_BEHIND,
    WRITES_BEFORE,
    WRITES_INPUT,
    FILLS_NOTHING,
    BAD_TYPE,
    BAD_SHAPE,
    BAD_DEVICE,
    UNKNOWN_STATUS,
    ERROR_WITHOUT_TEXT,
    SUCCESS_WITH_ERROR,
    BREAKS,
    REFUSES,
    REFUSES_ONCE,
    MOVES_OUTPUT,
    RAISES_ROOM,
    CHANGES_INPUT,
    BAD_DIALECT
};

struct impl_session {
    enum misdeed misdeed;
    int gathers;
};

static int fake_open(const struct impl_config *config, struct impl_about *about,
                     struct impl_session **session, struct impl_error *err)
{
    static struct impl_session only; /* one at a time */

    (void)err;
    only.misdeed = (enum misdeed)config->seed;
    only.gathers = 0;
    *session = &only;
    strcpy(about->name, "fake");
    about->devices = config->host_only ? 0 : 2;
    about->capabilities = IMPL_CAP_GATHER;
    about->dialect[IMPL_REPLICA_0] = only.misdeed == BAD_DIALECT ? IMPL_ZERO : IMPL_ALIAS;
    return IMPL_OK;
}

static void fake_close(struct impl_session *session)
{
    (void)session;
}

static int fake_reset(struct impl_session *session, struct impl_error *err)
{
    (void)session;
    (void)err;
    return IMPL_OK;
}

static int misbehave(struct impl_session *session, struct impl_gather *op, struct impl_error *err)
{
    float *data = op->out->data;

    if (session->misdeed == REFUSES_ONCE && session->gathers++ > 0)
        return IMPL_OK;
    switch (session->misdeed) {
    case WRITES_BEHIND:
        ((char *)data)[op->out->capacity] = 0;
        break;
    case WRITES_BEFORE:
        ((char *)data)[-1] = 0;
        break;
    case WRITES_INPUT:
        ((float *)op->parts[0].data)[0] = 9;
        break;
    case FILLS_NOTHING:
        data[1] = NAN;
        break;
    case BAD_TYPE:
        op->out->dtype = (enum impl_dtype)77;
        break;
    case BAD_SHAPE:
        op->out->dim[0] = SIZE_MAX;
        break;
    case BAD_DEVICE:
        op->out->device = 2;
        break;
    case UNKNOWN_STATUS:
        return 1000;
    case ERROR_WITHOUT_TEXT:
        return IMPL_EINVAL;
    case MOVES_OUTPUT:
        op->out->data = data + 1;
        break;
    case RAISES_ROOM:
        op->out->capacity = SIZE_MAX;
        break;
    case CHANGES_INPUT:
        ((struct impl_array *)op->parts)->device = 1;
        break;
    case SUCCESS_WITH_ERROR:
        err->status = IMPL_EFAULT;
        break;
    case REFUSES_ONCE:
    case BREAKS:
    case REFUSES:
        err->status = session->misdeed == BREAKS ? IMPL_EBROKEN : IMPL_ESHAPE;
        strcpy(err->text, "so \x1b[31mit is");
        return err->status;
    default:
        break;
    }
    return IMPL_OK;
}

static int fake_gather(struct impl_session *session, struct impl_gather *op, struct impl_error *err)
{
    struct impl_array *out = op->out;

    out->dtype = IMPL_F32;
    out->ndim = 1;
    out->dim[0] = 2;
    out->device = 0;
    memcpy(out->data, op->parts[0].data, 2 * sizeof(float));
    return misbehave(session, op, err);
}

static const struct impl_ops fake = {.version = IMPL_VERSION,
                                     .bytes = sizeof(struct impl_ops),
                                     .open = fake_open,
                                     .close = fake_close,
                                     .reset = fake_reset,
                                     .gather = fake_gather};

/* ---- cases ---------------------------------------------------------------------------------- */

static const double one_two[] = {1, 2};

static struct impl_array *gathered(struct check *c)
{
    struct impl_gather op = {.parts = check_vector(c, 2, one_two), .n = 1, .out = NULL};

    op.out = check_output(c, 1, 8);
    check_gather(c, &op);
    return op.out;
}

static void compares(struct check *c)
{
    check_values(c, "result", gathered(c), 2, one_two);
}

static void compares_nothing(struct check *c)
{
    gathered(c);
}

static void expects_another(struct check *c)
{
    const double want[] = {1, 3};

    check_note(c, "K=2: ");
    check_values(c, "result", gathered(c), 2, want);
}

static void expects_nan(struct check *c)
{
    const double want[] = {1, NAN};

    check_values(c, "result", gathered(c), 2, want);
}

static void expects_refusal(struct check *c)
{
    struct impl_gather op = {.parts = check_vector(c, 2, one_two), .n = 1, .out = NULL};

    op.out = check_output(c, 1, 8);
    check_refused(c, "this", check_try_gather(c, &op), ALLOW(IMPL_ESHAPE));
}

static void expects_other_refusal(struct check *c)
{
    struct impl_gather op = {.parts = check_vector(c, 2, one_two), .n = 1, .out = NULL};

    op.out = check_output(c, 1, 8);
    check_refused(c, "this", check_try_gather(c, &op), ALLOW(IMPL_EDEVICE));
}

static void expects_refusal_of_the_first(struct check *c)
{
    expects_refusal(c);
    compares(c);
}

/* A number that is not the one wanted, only to the last bit. */
static void expects_bits(struct check *c)
{
    static const double zero[] = {-0.0, 1}, endless[] = {(double)INFINITY, (double)NAN};
    const double *const given[] = {zero, endless, one_two};

    for (int i = 0; i < 3; ++i) {
        struct impl_gather op = {.parts = check_vector(c, 2, given[i]), .n = 1, .out = NULL};

        op.out = check_output(c, 1, 8);
        check_gather(c, &op);
        check_bits(c, "result", op.out, 2, given[i]);
    }
}

static void expects_other_zero(struct check *c)
{
    static const double zero[] = {-0.0, 1}, other[] = {0.0, 1};
    struct impl_gather op = {.parts = check_vector(c, 2, zero), .n = 1, .out = NULL};

    op.out = check_output(c, 1, 8);
    check_gather(c, &op);
    check_bits(c, "result", op.out, 2, other);
}

static void expects_other_end(struct check *c)
{
    static const double given[] = {(double)INFINITY, 1}, other[] = {(double)NAN, 1};
    struct impl_gather op = {.parts = check_vector(c, 2, given), .n = 1, .out = NULL};

    op.out = check_output(c, 1, 8);
    check_gather(c, &op);
    check_bits(c, "result", op.out, 2, other);
}

static void second_session(struct check *c)
{
    check_use(c, check_second_session(c));
    compares(c);
    check_use(c, NULL);
    check_second_close(c);
    compares(c);
}

static void closes_what_it_uses(struct check *c)
{
    check_use(c, check_second_session(c));
    check_second_close(c);
}

static void wants_split(struct check *c)
{
    struct impl_split op = {.rows = 3, .devices = 1};

    check_split(c, &op);
    check_int(c, "shards", op.n, 1);
}

static void without_devices(struct check *c)
{
    check_use(c, check_host_session(c));
    check_int(c, "devices", check_devices(c), 0);
}

static struct check_outcome outcome_of(enum misdeed misdeed, const struct check_case *test)
{
    const struct check_settings settings = {.devices = "", .options = "", .schedule = misdeed};
    struct check_outcome outcome;
    struct check_session session;
    char reason[600];

    cr_assert(check_session_open(&session, &fake, &settings, reason) == 0, "%s", reason);
    check_run(test, &session, &settings, &outcome);
    check_session_close(&session);
    return outcome;
}

static void check_expect(enum misdeed misdeed, void (*run)(struct check *),
                         enum check_verdict verdict, const char *says)
{
    const struct check_case test = {.id = "X-01.x", .rule = "X-01", .run = run};
    const struct check_outcome outcome = outcome_of(misdeed, &test);

    cr_assert(outcome.verdict == verdict && strstr(outcome.reason, says),
              "misdeed %d: verdict %d, '%s'", (int)misdeed, (int)outcome.verdict, outcome.reason);
}

Test(check, verdicts)
{
    check_expect(GOOD, compares, CHECK_PASS, "");
    check_expect(GOOD, compares_nothing, CHECK_FAIL, "compared nothing");
    check_expect(
        GOOD, expects_another, CHECK_FAIL,
        "2 devices: result: element 1 is 2 (0x40000000), must be 3 (0x40400000); 1 of 2 differ");
    check_expect(GOOD, expects_nan, CHECK_FAIL, "element 1");
    check_expect(GOOD, wants_split, CHECK_FAIL, "no operation split");
    check_expect(GOOD, without_devices, CHECK_PASS, "");
    check_expect(GOOD, second_session, CHECK_PASS, "");
    check_expect(GOOD, closes_what_it_uses, CHECK_BROKEN, "a session that it uses");
    check_expect(GOOD, expects_bits, CHECK_PASS, "");
    check_expect(GOOD, expects_other_zero, CHECK_FAIL, "element 0 is -0 (0x80000000), must be 0");
    check_expect(GOOD, expects_other_end, CHECK_FAIL, "element 0 is inf");
    check_expect(FILLS_NOTHING, expects_bits, CHECK_FAIL, "element 1 is");
}

/* The note of a case is read in words. */
static void notes(struct check *c)
{
    check_note(c, "K=1 N=10, the whole batch, R=12 step 3, XK=4: ");
    check_fail(c, "end");
}

/* The numbers 1, 2 of two ranks are found where others are wanted. */
static const struct hint_row {
    double want[2], before[2];
    const char *words;
} hints[] = {
    {{0.5, 1},
     {7, 7},
     "2 times what it must be, with 2 ranks: a sum where a mean belongs, reduced twice, or not "
     "cleared?"},
    {{2, 4}, {7, 7}, "1/2 of what it must be, with 2 ranks: divided twice?"},
    {{8, 9}, {1, 2}, "that was right earlier in this case: an old copy, not refreshed?"},
    {{2, 1}, {7, 7}, "the right numbers in another order: are parts swapped?"},
    {{1.00001, 2}, {7, 7}, "almost right: rounded to a shorter type, or added in another order?"},
    {{1.001, 2}, {7, 7}, "right if it is rounded to 8 bits: reduced in bfloat16?"},
    {{1.0003, 2.0003}, {7, 7}, "right if it is rounded to 11 bits: reduced in float16?"},
    {{1.001, 2.01}, {7, 7}, ""}, /* another number is not right then */
    {{8, 9}, {7, 7}, ""}};

static void hints_of(struct check *c)
{
    const struct hint_row *row = &hints[check_variant(c)];
    struct impl_gather op = {.parts = check_vector(c, 2, row->before), .n = 1, .out = NULL};

    op.out = check_output(c, 1, 8);
    check_gather(c, &op);
    check_values(c, "result", op.out, 2, row->before);
    c->parts = 2;
    c->of_ranks = true;
    check_values(c, "result", gathered(c), 2, row->want);
}

/* Integers that no float holds, and doubles that differ in the last bit. */
static void expects_wide(struct check *c)
{
    const size_t one = 1;

    if (check_variant(c) == 0)
        check_values(c, "count", check_typed(c, IMPL_I64, 1, &one, (const double[]){1099511627878}),
                     1, (const double[]){1099511627778});
    if (check_variant(c) == 2)
        check_values(c, "one", check_typed(c, IMPL_F32, 1, &one, (const double[]){256}), 1,
                     (const double[]){257});
    check_values(c, "sum", check_typed(c, IMPL_F64, 1, &one, (const double[]){1}), 1,
                 (const double[]){1 + 0x1p-52});
}

Test(check, wide_numbers)
{
    static const struct {
        const char *reason, *hint;
    } rows[] = {
        {"count: element 0 is 1099511627878 (0x0000010000000066), must be 1099511627778 "
         "(0x0000010000000002); 1 of 1 differ",
         ""},
        {"sum: element 0 is 1 (0x3ff0000000000000), must be 1.0000000000000002 "
         "(0x3ff0000000000001); 1 of 1 differ",
         "almost right: rounded to a shorter type, or added in another order?"},
        {"one: element 0 is 256 (0x43800000), must be 257 (0x43808000); 1 of 1 differ", ""}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct check_case test = {
            .id = "X-01.x", .rule = "X-01", .run = expects_wide, .variant = (int)i};
        const struct check_outcome outcome = outcome_of(GOOD, &test);

        cr_assert_str_eq(outcome.reason, rows[i].reason);
        cr_assert_str_eq(outcome.hint, rows[i].hint);
    }
}

Test(check, hints)
{
    check_expect(GOOD, notes, CHECK_FAIL,
                 "1 device, 10 rows, the whole batch, 12 ranks, step 3, XK=4: end");
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; ++i) {
        const struct check_case test = {
            .id = "X-01.x", .rule = "X-01", .run = hints_of, .variant = (int)i};
        const struct check_outcome outcome = outcome_of(GOOD, &test);

        cr_assert(outcome.verdict == CHECK_FAIL && strcmp(outcome.hint, hints[i].words) == 0,
                  "row %zu: verdict %d, '%s'", i, (int)outcome.verdict, outcome.hint);
    }
}

Test(check, what_an_implementation_must_not_do)
{
    check_expect(WRITES_BEHIND, compares, CHECK_FAIL, "outside an output's room of 8 bytes");
    check_expect(WRITES_BEFORE, compares, CHECK_FAIL, "outside an output's room");
    check_expect(WRITES_INPUT, compares, CHECK_FAIL, "into an input");
    check_expect(FILLS_NOTHING, compares, CHECK_FAIL, "element 1 is");
    check_expect(BAD_TYPE, compares, CHECK_FAIL, "unknown type 77");
    check_expect(BAD_SHAPE, compares, CHECK_FAIL, "does not fit");
    check_expect(BAD_DEVICE, compares, CHECK_FAIL, "on device 2; there are 2");
    check_expect(MOVES_OUTPUT, compares, CHECK_FAIL, "changed where an output is");
    check_expect(RAISES_ROOM, compares, CHECK_FAIL, "its room of 8 bytes");
    check_expect(CHANGES_INPUT, compares, CHECK_FAIL, "description of an input");
    check_expect(UNKNOWN_STATUS, compares, CHECK_FAIL, "status 1000");
    check_expect(ERROR_WITHOUT_TEXT, compares, CHECK_FAIL, "its error says");
    check_expect(SUCCESS_WITH_ERROR, compares, CHECK_FAIL, "filled an error");
    check_expect(BREAKS, compares, CHECK_BROKEN, "so ?[31mit is");
}

Test(check, refusals)
{
    check_expect(REFUSES_ONCE, expects_refusal_of_the_first, CHECK_PASS, "");
    check_expect(REFUSES, expects_refusal, CHECK_FAIL, "gather was refused each time");
    check_expect(REFUSES, expects_other_refusal, CHECK_FAIL,
                 "wrong reason: shape (so ?[31mit is); allowed: device");
    check_expect(REFUSES, compares, CHECK_FAIL, "so ?[31mit is");
    check_expect(GOOD, expects_refusal, CHECK_FAIL, "was accepted");
    check_expect(BREAKS, expects_refusal, CHECK_BROKEN, "");
}

Test(check, requirements)
{
    struct check_case test = {.id = "X-01.x", .rule = "X-01", .run = compares};

    test.needs = IMPL_CAP_SPLIT;
    cr_assert(outcome_of(GOOD, &test).verdict == CHECK_FAIL, "a MUST without its capability");
    test.obligation = MAY;
    cr_assert(outcome_of(GOOD, &test).verdict == CHECK_SKIP);
    test.needs = 0;
    cr_assert(outcome_of(GOOD, &test).verdict == CHECK_PASS);
    test.devices = 3;
    cr_assert(outcome_of(GOOD, &test).verdict == CHECK_SKIP);
    test.devices = 2;
    test.dialect = IMPL_REPLICA_0;
    test.choice = IMPL_CLONE;
    cr_assert(outcome_of(GOOD, &test).verdict == CHECK_SKIP, "another dialect");
    test.choice = IMPL_ALIAS;
    cr_assert(outcome_of(GOOD, &test).verdict == CHECK_PASS);
    test.dialect = IMPL_UNUSED;
    const struct check_outcome undeclared = outcome_of(GOOD, &test);

    cr_assert(undeclared.verdict == CHECK_FAIL);
    cr_assert(strstr(undeclared.reason, "dialect \"unused\" must be declared"), "%s",
              undeclared.reason);
}

Test(check, a_claim_without_an_operation_is_refused)
{
    const struct check_settings settings = {.devices = "", .options = ""};
    struct impl_ops ops = fake;
    struct check_session session;
    char reason[600] = "";

    ops.gather = NULL;
    cr_assert(check_session_open(&session, &ops, &settings, reason) == -1);
    cr_assert_not_null(strstr(reason, "claims a capability"), "%s", reason);
}

Test(check, a_choice_of_another_dialect_is_refused)
{
    const struct check_settings settings = {.devices = "", .options = "", .schedule = BAD_DIALECT};
    struct check_session session;
    char reason[600] = "";

    cr_assert(check_session_open(&session, &fake, &settings, reason) == -1);
    cr_assert_not_null(strstr(reason, "a choice that it does not have"), "%s", reason);
}

/* A session gives no verdict if its process has gone when the models were closed. */
static const char *always_dead(struct impl_session *session)
{
    (void)session;
    return "the process died";
}

Test(check, death_at_the_end_is_no_pass)
{
    const struct check_case test = {.id = "X-01.x", .rule = "X-01", .run = compares};
    const struct check_settings settings = {.devices = "", .options = "", .dead = always_dead};
    struct check_outcome outcome;
    struct check_session session;
    char reason[600];

    cr_assert(check_session_open(&session, &fake, &settings, reason) == 0, "%s", reason);
    check_run(&test, &session, &settings, &outcome);
    check_session_close(&session);
    cr_assert(outcome.verdict == CHECK_BROKEN && strstr(outcome.reason, "process died"),
              "verdict %d, '%s'", (int)outcome.verdict, outcome.reason);
}

Test(check, shards_in_closed_form)
{
    size_t size[IMPL_MAX_DEVICES];

    cr_assert(check_shards(30, 2, size) == 2 && size[0] == 15 && size[1] == 15);
    cr_assert(check_shards(10, 3, size) == 3 && size[0] == 4 && size[2] == 2);
    cr_assert(check_shards(10, 8, size) == 5 && size[4] == 2);
    cr_assert(check_shards(0, 4, size) == 4 && size[3] == 0);
    cr_assert(check_shards(1, 8, size) == 1 && size[0] == 1);
}
