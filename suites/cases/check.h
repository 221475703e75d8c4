/* check.h: a conformance case, and the functions that it calls.
 *
 * A case is one function about one rule. It asks an implementation (impl.h) for an operation and
 * states its results. The first expectation that does not hold ends the case: then check_*
 * functions do not return. A case that compared nothing has failed. So has one in which an
 * operation was refused and never accepted, because an implementation that refuses everything
 * proves nothing.
 *
 * Everything that the implementation gets is guarded: inputs must be unchanged after the call,
 * outputs are filled with NaN before it, and both have canaries on both sides, and forbidden pages
 * if a shared object is tested. So is the state of the thread: rounding, locale, signal mask.
 * Everything that a case makes lives until it ends. */
#ifndef CASES_CHECK_H
#define CASES_CHECK_H

#include "impl.h"

#include <setjmp.h>

/* ---- 1. Cases ----------------------------------------------------------------------------- */

enum check_obligation {
    MUST,        /* the rule demands it */
    MUST_REFUSE, /* the rule demands an error */
    MAY /* optional: an implementation without it is skipped; one that has it must be right */
};

/* The source of the evidence: values, bits and times that the suite saw itself, or reports of the
 * implementation (traces, devices, counters). */
enum check_evidence { OBSERVED, REPORTED };

/* The profiles that a case belongs to, as bits. */
enum check_profile {
    PROFILE_PRIMITIVES = 1,
    PROFILE_DATAPARALLEL = 2,
    PROFILE_DDP = 4,
};

enum check_verdict { CHECK_PASS, CHECK_FAIL, CHECK_SKIP, CHECK_BROKEN };

struct check;

struct check_case {
    const char *id;   /* "SPLIT-01.sizes": the rule, a dot, the subject; unique */
    const char *rule; /* "SPLIT-01" */
    enum check_obligation obligation;
    enum check_evidence evidence;
    unsigned profiles; /* enum check_profile, or-ed */
    uint64_t needs;    /* enum impl_capability, or-ed; missing: FAIL, or SKIP for MAY */
    int devices;       /* with fewer devices the case is SKIP; 0: it needs none */
    void (*run)(struct check *c);
    unsigned limit_ms; /* 0: the default of 10 s */
    /* A case about a dialect runs only if the implementation declares this choice (another choice:
     * SKIP, none: FAIL). choice IMPL_UNDECLARED: it is not about a dialect. */
    enum impl_dialect dialect;
    enum impl_choice choice;
    /* One of these instead of run: it is called for every number of devices of check_count from
     * `devices` on, or of ranks of ddp_ranks. Each call begins with the note "K=2: " or "R=2: ",
     * and the models that it opened are closed when it returns. */
    void (*each)(struct check *c, int k);
    void (*ranks)(struct check *c, int ranks);
    int variant; /* for check_variant: rows with one function differ in it */
};

/* Words for the rows of tables. */
enum {
    PRIM = PROFILE_PRIMITIVES,
    DP = PROFILE_DATAPARALLEL,
    DDP = PROFILE_DDP,
    PARALLEL = IMPL_CAP_PARALLEL
};

/* A rule without a case, and the reason. */
struct check_excuse {
    const char *rule;
    bool pending; /* a case can be written, but does not exist yet; else: a case makes no sense in C
                   */
    const char *reason;
};

/* The cases of one file that belong to one area. A table stands after the functions of its
 * cases. */
struct check_table {
    const struct check_case *cases;
    int n;
};
#define CHECK_TABLE(cases_)                                                                        \
    {                                                                                              \
        .cases = (cases_), .n = sizeof(cases_) / sizeof(cases_)[0]                                 \
    }

/* An area, with the rules NAME-01 .. NAME-n_rules. The list of areas is in list.c. Every rule has a
 * case or an excuse, never both. */
struct check_area {
    const char *name; /* "SPLIT" */
    int n_rules;
    const struct check_table *const *tables;
    int n_tables;
    const struct check_excuse *excuses;
    int n_excuses;
};
extern const struct check_area *const check_areas[];
extern const int check_n_areas;
/* Returns what RULES.md says: of a rule ("SPLIT-01") its sentence, of an area ("SPLIT") its name in
 * words; "": it says nothing of that. */
const char *check_words(const char *name);
int check_area_size(const struct check_area *area);
/* Returns the cases of an area, table after table: for (i = 0; (test = check_area_case(area, i));
 * ++i). */
const struct check_case *check_area_case(const struct check_area *area, int i);

/* ---- 2. Running one (for the runner) ------------------------------------------------------- */

struct wall; /* impls/wall: the process of an implementation, in which no cases run */

struct check_settings {
    const char *devices, *options; /* for impl_config; "": none */
    uint64_t seed, schedule;       /* of the data; of impl_config */
    struct wall *wall; /* NULL: the implementation is in this process, or a command that answers
                          through pipes */
    size_t required;   /* devices: if they are missing, the implementation is to blame */
    bool foreign;      /* foreign code is in this process: the pages around arrays are forbidden */
    /* Reads the resident memory of the implementation's process; NULL: it is this process. */
    int (*resident)(struct impl_session *session, size_t *bytes);
    /* Returns why the session can make no further call, e.g. that its process has died; NULL: it
     * can. It is called when a case has ended, because closing its models reports nothing. NULL:
     * never called. */
    const char *(*dead)(struct impl_session *session);
    /* Whether the implementation is to blame: it crashed or hangs. NULL: never. */
    bool (*fell)(struct impl_session *session);
    /* Memory for the name of the current operation, at most 64 bytes: every operation writes it,
     * and the runner reports it when the process dies, which the memory survives. NULL: none. */
    char *doing;
};

struct check_outcome {
    enum check_verdict verdict;
    size_t compared;
    int few_devices;    /* SKIP, because it needs so many; 0: for another reason */
    bool fell;          /* FAIL because it crashed, so its last output tells more */
    char reason[600];   /* one line: what was expected and what was found */
    char scenario[900]; /* of a FAIL: the model, its ranks, inputs, calls; "": none was opened */
    char hint[120];     /* of a FAIL: a question about its cause, which may be wrong; "": none */
};

/* A session that serves several cases. */
struct check_session {
    const struct impl_ops *ops;
    struct impl_session *session;
    struct impl_about about;
    const struct check_settings *settings;
    bool fault; /* it could not be opened, and the implementation is to blame: FAIL, else BROKEN */
};

/* Opens the session, and checks `about`. Returns 0, or -1 with the reason. */
int check_session_open(struct check_session *s, const struct impl_ops *ops,
                       const struct check_settings *settings, char reason[600]);
/* Closes the session. Returns 0, or -1 with the reason: it crashed, or changed state that it must
 * not change (FAIL). */
int check_session_end(struct check_session *s, char reason[600]);
void check_session_close(struct check_session *s);
/* Replaces all bytes that are not printable ASCII by '?'; the text ends within bytes. */
void check_clean(char *text, size_t bytes);
/* Cleans the texts, and returns what is wrong with it, or NULL. */
const char *check_about(struct impl_about *about);
/* Runs one case on the session, after a reset. */
void check_run(const struct check_case *test, struct check_session *s,
               const struct check_settings *settings, struct check_outcome *outcome);

/* ---- 3. Saying ----------------------------------------------------------------------------- */

_Noreturn void check_fail(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void check_skip(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void check_few_devices(struct check *c, int needed); /* SKIP */
/* Called after the case has ended: the case fails, unless it has failed already. */
void check_after(struct check_outcome *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The harness has a fault, and not the implementation. */
_Noreturn void check_broken(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets a text that later messages begin with: "K=4 N=10: ". */
void check_note(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- 4. Circumstances ---------------------------------------------------------------------- */

int check_devices(const struct check *c); /* the number of devices of the implementation */
const char *check_device_name(const struct check *c, int device);
enum impl_choice check_choice(struct check *c, enum impl_dialect dialect); /* undeclared: fails */
bool check_has(const struct check *c, uint64_t capabilities);
int check_variant(const struct check *c); /* the number in the row of the case */
/* Returns those of the counts 1, 2, 3, 4, 5, 8 for which there are devices, and one more that the
 * seed chooses for this case, in ascending order: for (i = 0; (k = check_count(c, i)); ++i). With 0
 * devices there are none. */
int check_count(const struct check *c, int i);
/* Returns the same numbers of ranks, from 2 on. Without devices all of them are allowed. */
int check_ranks(const struct check *c, int i);
/* Returns the devices 0 .. k-1 in a mixed order, so that the use of an index as a device shows: of
 * four 2, 0, 3, 1. k is one of these counts. */
const int *mixed_ids(int k);
/* Writes these counts for people: "1, 2, 3, 4, 5, 8 devices, and in each case one of 6, 7 (seed
 * 0)". */
void check_counts_text(int devices, uint64_t seed, char *text, size_t bytes);
/* The first opens a session without devices, which is closed when the case ends. The second opens
 * another session like that of the case; check_second_close closes it earlier. After check_use,
 * calls go to that session; NULL: to that of the case again. */
struct check_session *check_host_session(struct check *c);
struct check_session *check_second_session(struct check *c);
void check_second_close(struct check *c);
void check_use(struct check *c, struct check_session *s);
uint64_t check_seed(const struct check *c);
uint64_t check_now_ms(void);
size_t check_resident(struct check *c); /* bytes of the implementation's process */
/* A sanitizer keeps memory that was freed, so the memory of the process tells nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KEEPS_FREED_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KEEPS_FREED_MEMORY 1
#endif
#endif
#ifndef KEEPS_FREED_MEMORY
#define KEEPS_FREED_MEMORY 0
#endif

/* Returns memory filled with zeros, which lives until the case ends. */
void *check_memory(struct check *c, size_t bytes);
/* Prints into such memory. */
const char *check_text(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns "[2,0,3,1]", for example. */
const char *check_list(struct check *c, const int values[], int n);
/* Returns "[0,1,..,n-1]". */
const char *check_ids(struct check *c, int n);

/* The closed forms of the suite, which use nothing of core/. */
int check_shards(size_t rows, int devices, size_t size[IMPL_MAX_DEVICES]); /* returns m */

/* ---- 5. Arrays ----------------------------------------------------------------------------- */

/* Make inputs: values are rounded to float, and the device is IMPL_HOST unless it is set
 * afterwards. */
struct impl_array *check_array(struct check *c, int ndim, const size_t dim[],
                               const double values[]);
struct impl_array *check_vector(struct check *c, size_t n, const double values[]); /* [n] */
struct impl_array *check_column(struct check *c, size_t n, const double values[]); /* [n, 1] */
/* Returns count numbers: first, first + step, ... */
const double *check_sequence(struct check *c, size_t count, double first, double step);
/* Returns an input [n, 1] of these numbers. */
struct impl_array *check_counted(struct check *c, size_t n, double first, double step);
/* Returns numbers of -8..8 except 0, as a function of seed: exact in every sum of a case. */
const double *check_integers(struct check *c, size_t count, uint64_t seed);
/* Returns float32 numbers of all magnitudes in -1..1, as a function of seed: not exact on
 * purpose. */
const double *check_randoms(struct check *c, size_t count, uint64_t seed);
struct impl_array *check_typed(struct check *c, enum impl_dtype dtype, int ndim, const size_t dim[],
                               const double values[]);
struct impl_array *check_none(struct check *c);                    /* dtype NONE */
struct impl_array *check_on(struct impl_array *array, int device); /* sets device, returns it */
struct impl_array *check_needs_grad(struct impl_array *array);
/* Returns n outputs, each with the capacity for `bytes`: NaN inside, and canaries after it. */
struct impl_array *check_output(struct check *c, int n, size_t bytes);

size_t check_elements(const struct impl_array *array);
size_t check_dtype_bytes(enum impl_dtype dtype);
double check_element(const struct impl_array *array, size_t i); /* any dtype */

/* ---- 6. Operations ------------------------------------------------------------------------- */

/* Each makes one call and checks the guards. The try_ form returns the status, with *error set,
 * after it checked that the status and its text are consistent; the other form ends the case unless
 * the status is 0. */
int check_try_split(struct check *c, struct impl_split *op);
int check_try_scatter(struct check *c, struct impl_scatter *op);
int check_try_gather(struct check *c, struct impl_gather *op);
int check_try_broadcast(struct check *c, struct impl_broadcast *op);
int check_try_reduce(struct check *c, struct impl_reduce *op);
int check_try_apply(struct check *c, struct impl_apply *op);
int check_try_forward(struct check *c, struct impl_model *model, struct impl_forward *op);
int check_try_backward(struct check *c, struct impl_model *model, struct impl_backward *op);
int check_try_model(struct check *c, const char *description, int ranks, struct impl_model **model);
void check_split(struct check *c, struct impl_split *op);
void check_scatter(struct check *c, struct impl_scatter *op);
void check_gather(struct check *c, struct impl_gather *op);
void check_broadcast(struct check *c, struct impl_broadcast *op);
void check_reduce(struct check *c, struct impl_reduce *op);
void check_apply(struct check *c, struct impl_apply *op);
void check_buckets(struct check *c, struct impl_buckets *op);
void check_sampler(struct check *c, struct impl_sampler *op);
void check_forward_op(struct check *c, struct impl_model *model, struct impl_forward *op);
void check_backward_op(struct check *c, struct impl_model *model, struct impl_backward *op);

/* A forward of one input, in these modes: its status, or its outputs. */
int check_try_one(struct check *c, struct impl_model *model, const struct impl_array *x, bool grad,
                  bool train);
const struct impl_array *check_one(struct check *c, struct impl_model *model,
                                   const struct impl_array *x, bool grad, bool train);

/* Returns the error of the last call. */
const struct impl_error *check_error(const struct check *c);

/* Opens a model, whose description is formatted as by printf; it is closed when the case ends, or
 * by check_model_close. */
struct impl_model *check_model(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Opens {"layers":[{"kind":"parallel","device_ids":[..],OPTIONS "layers":[LAYERS]}]}. ids NULL:
 * 0..k-1; options: "" or e.g. "\"dim\":1,". */
struct impl_model *check_parallel(struct check *c, int k, const int ids[], const char *options,
                                  const char *layers);
/* Opens a model of several ranks. If each needs a device and there are fewer, the case ends: it
 * passes with the comparisons made on fewer ranks, or is skipped. */
struct impl_model *check_ddp_model(struct check *c, int ranks, const char *description);
void check_model_close(struct check *c, struct impl_model *model);
void check_to(struct check *c, struct impl_model *model, int device);
void check_zero_grad(struct check *c, struct impl_model *model);
void check_step(struct check *c, struct impl_model *model, float lr, float momentum);
void check_step_of(struct check *c, struct impl_model *model, const struct impl_step *step);
int check_params(struct check *c, struct impl_model *model);
void check_param(struct check *c, struct impl_model *model, int i, struct impl_param *param);
void check_set(struct check *c, struct impl_model *model, enum impl_what what, int i,
               const double values[]); /* values NULL: none (gradients) */
struct impl_array *check_get(struct check *c, struct impl_model *model, enum impl_what what, int i);
struct impl_array *check_get_rank(struct check *c, struct impl_model *model, int rank,
                                  enum impl_what what, int i);

/* Makes a forward with one input and one output, with grad and train mode on. */
struct impl_array *check_forward(struct check *c, struct impl_model *model,
                                 const struct impl_array *x);
struct impl_array *check_forward_trace(struct check *c, struct impl_model *model,
                                       const struct impl_array *x, struct impl_trace *trace);
/* The same with grad mode off. */
struct impl_array *check_infer(struct check *c, struct impl_model *model,
                               const struct impl_array *x);
/* Returns the gradient of the only input (dtype NONE: none). g NULL: ones. */
struct impl_array *check_backward(struct check *c, struct impl_model *model,
                                  const struct impl_array *g);

/* ---- 7. Expectations ----------------------------------------------------------------------- */

/* Compares element by element, bit for bit, after rounding `want` to the type of the array (0 and
 * -0 are equal). A message names `what`, the first different index, both values and both bit
 * patterns. */
void check_values(struct check *c, const char *what, const struct impl_array *got, size_t n,
                  const double want[]);
void check_shape(struct check *c, const char *what, const struct impl_array *got, int ndim,
                 const size_t dim[]);
/* The same, but the sign of zero must be equal, and numbers may be infinite or NaN: then the result
 * must be that infinity, or any NaN. Only for floats. */
void check_bits(struct check *c, const char *what, const struct impl_array *got, size_t n,
                const double want[]);
/* Checks that type, shape and bits are the same. */
void check_same(struct check *c, const char *what, const struct impl_array *got,
                const struct impl_array *want);
/* The same, for the result of a step that is repeated: the hint asks whether there is a race. */
void check_again(struct check *c, const char *what, const struct impl_array *got,
                 const struct impl_array *before);
void check_is_none(struct check *c, const char *what, const struct impl_array *got);
void check_device(struct check *c, const char *what, const struct impl_array *got, int device);
void check_int(struct check *c, const char *what, long long got, long long want);
void check_at_least(struct check *c, const char *what, long long got, long long least);
/* An implementation that does nothing would pass these two, so neither counts as a comparison. */
void check_at_most(struct check *c, const char *what, long long got, long long most);
void check_accepted(struct check *c, const char *what, int status);
/* Counts as one comparison. */
void check_true(struct check *c, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Checks the only element of the value or gradient of parameter i of the base. */
void check_value_is(struct check *c, struct impl_model *model, int i, double want);
void check_grad_is(struct check *c, struct impl_model *model, int i, double want);
void check_grad_none(struct check *c, struct impl_model *model, int i);
/* Checks the gradients of parameters 0 and 1, a weight and a bias. */
void check_grads_are(struct check *c, struct impl_model *model, double weight, double bias);
/* Checks that status is an error of one of the allowed kinds (bits 1 << IMPL_E...), never ENOTSUP,
 * EROOM or EBROKEN, and that it has a text. */
void check_refused(struct check *c, const char *what, int status, unsigned allowed);
#define ALLOW(kind) (1u << (kind))

#endif
