/* plan/plan_options.c: the table of the options of a sweep, and the functions of its rows.
 *
 * The order is that of --help, of the manual page, and of the command in a record. */
#include "plan/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "text/options.h"
#include "verify/collective.h"
#include "workload_list.h"

enum { STEPS_MAX = 100000, SECONDS_MAX = 3600, WARMUP_SECONDS_MAX = 60 };

/* Appends " --name value"; at the start of a line without the blank. */
static void plan_add(struct plan_line *line, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void plan_add(struct plan_line *line, const char *name, const char *format, ...)
{
    char value[sizeof((struct record_run *)0)->command];
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(value, sizeof value, format, args);
    va_end(args);
    const int n = snprintf(line->text + line->used, line->bytes - line->used, "%s--%s %s",
                           line->used > 0 ? " " : "", name, value);

    if (length < 0 || (size_t)length >= sizeof value || n < 0 ||
        (size_t)n >= line->bytes - line->used)
        line->full = true;
    else
        line->used += (size_t)n;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int plan_read_text(const struct plan_option *option, const char *value,
                          struct plan_options *plan, struct text_error *why)
{
    if (command_copy((char *)plan + option->place, option->bytes, value) == 0)
        return 0;
    return text_fail(why, "longer than %zu characters", option->bytes - 1);
}

static void plan_write_text(const struct plan_option *option, const struct plan_options *plan,
                            struct plan_line *line)
{
    plan_add(line, option->name, "%s", (const char *)plan + option->place);
}

/* ---- lists of numbers ------------------------------------------------------------------------ */

static int plan_read_list(const struct plan_option *option, const char *value,
                          struct plan_options *plan, struct text_error *why)
{
    return option_sizes(value, option->min, option->max, (size_t *)((char *)plan + option->place),
                        option->room, (size_t *)((char *)plan + option->n_values), why);
}

/* Writes a list of numbers, or of names. */
static void plan_write_list(const struct plan_option *option, const struct plan_options *plan,
                            struct plan_line *line)
{
    const char *values = (const char *)plan + option->place;
    const size_t n = *(const size_t *)((const char *)plan + option->n_values);
    const size_t bytes = option->axis.bytes;
    char text[sizeof((struct record_run *)0)->command] = "";
    size_t used = 0;

    for (size_t i = 0; i < n && used < sizeof text; ++i) {
        const char *comma = i == 0 ? "" : ",";
        char *at = text + used;

        used +=
            (size_t)(bytes > 0 ? snprintf(at, sizeof text - used, "%s%s", comma, values + i * bytes)
                               : snprintf(at, sizeof text - used, "%s%zu", comma,
                                          ((const size_t *)(const void *)values)[i]));
    }
    if (used >= sizeof text)
        line->full = true;
    else if (n > 0)
        plan_add(line, option->name, "%s", text);
}

/* ---- lists of names -------------------------------------------------------------------------- */

static int plan_read_names(const struct plan_option *option, const char *value,
                           struct plan_options *plan, struct text_error *why)
{
    size_t *n = (size_t *)((char *)plan + option->n_values);
    const size_t bytes = option->axis.bytes;
    char *names = (char *)plan + option->place;

    for (const char *name = value;; ++name) {
        const size_t length = strcspn(name, ",");

        if (length == 0 || length >= bytes)
            return text_fail(why, "'%.40s' is no list of names", name);
        if (*n == option->room)
            return text_fail(why, "at most %zu are allowed", option->room);
        for (size_t i = 0; i < *n; ++i)
            if (strlen(names + i * bytes) == length && memcmp(names + i * bytes, name, length) == 0)
                return text_fail(why, "%.*s is given twice", (int)length, name);
        memcpy(names + *n * bytes, name, length);
        names[*n * bytes + length] = '\0';
        ++*n;
        name += length;
        if (*name == '\0')
            return 0;
    }
}

/* ---- choices --------------------------------------------------------------------------------- */

static int plan_read_choice(const struct plan_option *option, const char *value,
                            struct plan_options *plan, struct text_error *why)
{
    size_t index = 0;
    const int status = option_name(option->what, value, option->choices, 2, &index, why);

    *(bool *)((char *)plan + option->place) = index == 1;
    return status;
}

static void plan_write_choice(const struct plan_option *option, const struct plan_options *plan,
                              struct plan_line *line)
{
    const bool second = *(const bool *)((const char *)plan + option->place);

    plan_add(line, option->name, "%s", option->choices[second]);
}

/* Writes the option only if it is the second choice, so that commands from before the option
 * existed remain the same. */
static void plan_write_second(const struct plan_option *option, const struct plan_options *plan,
                              struct plan_line *line)
{
    if (*(const bool *)((const char *)plan + option->place))
        plan_write_choice(option, plan, line);
}

/* ---- one by one ------------------------------------------------------------------------------ */

enum { NAME_BYTES = 64 };

/* Copies the next name of a list. Returns the rest of the list; NULL: it was the last name. */
static const char *next_name(const char *list, char name[NAME_BYTES])
{
    const size_t length = strcspn(list, ",");

    snprintf(name, NAME_BYTES, "%.*s", length < NAME_BYTES ? (int)length : NAME_BYTES, list);
    return list[length] != '\0' ? list + length + 1 : NULL;
}

static int ask_backend(const char *value, struct text_error *why)
{
    return command_backend_name("backend", value, why);
}

/* Checks that each name of a list is one of the known names. */
static int ask_names(const char *what, const char *value, const char *const names[], size_t n,
                     struct text_error *why)
{
    char name[NAME_BYTES];
    size_t index;
    int status = 0;

    while (value && status == 0) {
        value = next_name(value, name);
        status = option_name(what, name, names, n, &index, why);
    }
    return status;
}

static int ask_communicators(const char *value, struct text_error *why)
{
    char name[NAME_BYTES];
    int status = 0;

    while (value && status == 0) {
        value = next_name(value, name);
        status = command_communicator_name("communicator", name, why);
    }
    return status;
}

static int ask_collectives(const char *value, struct text_error *why)
{
    const char *names[COLLECTIVES];

    for (int i = 0; i < COLLECTIVES; ++i)
        names[i] = collectives[i].name;
    return ask_names("collective", value, names, COLLECTIVES, why);
}

static int ask_type(const char *value, struct text_error *why)
{
    const char *names[COLLECTIVE_TYPES];

    for (int i = 0; i < COLLECTIVE_TYPES; ++i)
        names[i] = collective_types[i].name;
    return ask_names("type", value, names, COLLECTIVE_TYPES, why);
}

static int read_math(const struct plan_option *option, const char *value, struct plan_options *plan,
                     struct text_error *why)
{
    const char *names[DP_MATHS];
    size_t index = 0;
    int status;

    for (int math = 0; math < DP_MATHS; ++math)
        names[math] = dp_math_name((enum dp_math)math);
    status = option_name(option->name, value, names, DP_MATHS, &index, why);
    plan->math = (enum dp_math)index;
    return status;
}

static void write_math(const struct plan_option *option, const struct plan_options *plan,
                       struct plan_line *line)
{
    if (plan->math != DP_MATH_F32)
        plan_add(line, option->name, "%s", dp_math_name(plan->math));
}

/* Reads "plain", "dp" and so on, or several of them in any order. */
static int read_modes(const struct plan_option *option, const char *value,
                      struct plan_options *plan, struct text_error *why)
{
    char name[NAME_BYTES];
    size_t index;

    while (value) {
        value = next_name(value, name);
        if (option_name(option->name, name, cell_mode_names, CELL_MODES, &index, why))
            return -1;
        plan->mode[index] = true;
    }
    return 0;
}

static void write_modes(const struct plan_option *option, const struct plan_options *plan,
                        struct plan_line *line)
{
    char text[64] = "";

    for (int mode = 0; mode < CELL_MODES; ++mode)
        if (plan->mode[mode])
            text_list(text, sizeof text, ",", cell_mode_names[mode]);
    plan_add(line, option->name, "%s", text);
}

static int read_workload(const struct plan_option *option, const char *value,
                         struct plan_options *plan, struct text_error *why)
{
    (void)option;
    for (;;) {
        struct workload *workload = &plan->workload[plan->n_workloads];
        size_t n = strcspn(value, ",");
        char name[200];

        /* The sizes of a name also contain commas, but the next name begins with a letter. */
        while (value[n] == ',' && !isalpha((unsigned char)value[n + 1]))
            n += 1 + strcspn(value + n + 1, ",");
        snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), value);
        if (plan->n_workloads == PLAN_MAX_WORKLOADS)
            return text_fail(why, "at most %d are allowed", PLAN_MAX_WORKLOADS);
        if (workload_parse(name, workload, why->text, sizeof why->text))
            return -1;
        for (size_t i = 0; i < plan->n_workloads; ++i)
            if (strcmp(plan->workload[i].name, workload->name) == 0)
                return text_fail(why, "%s is given twice", workload->name);
        ++plan->n_workloads;
        if (value[n] == '\0')
            return 0;
        value += n + 1;
    }
}

static void write_workloads(const struct plan_option *option, const struct plan_options *plan,
                            struct plan_line *line)
{
    for (size_t i = 0; i < plan->n_workloads; ++i)
        plan_add(line, option->name, "%s", plan->workload[i].name);
}

static int read_launches(const struct plan_option *option, const char *value,
                         struct plan_options *plan, struct text_error *why)
{
    (void)option;
    return option_size(value, 1, PLAN_MAX_LAUNCHES, &plan->launches, why);
}

static void write_launches(const struct plan_option *option, const struct plan_options *plan,
                           struct plan_line *line)
{
    plan_add(line, option->name, "%zu", plan->launches);
}

static int ask_seed(const char *value, struct text_error *why)
{
    size_t seed;

    return option_size(value, 0, SIZE_MAX - 1, &seed, why);
}

/* Reads a seed. A sweep that chose its seed may have chosen any number. */
static int read_seed(const struct plan_option *option, const char *value, struct plan_options *plan,
                     struct text_error *why)
{
    size_t seed;

    (void)option;
    plan->seed =
        option_size(value, 0, SIZE_MAX - 1, &seed, why) == 0 ? seed : strtoull(value, NULL, 10);
    plan->has_seed = true;
    return 0;
}

static void write_seed(const struct plan_option *option, const struct plan_options *plan,
                       struct plan_line *line)
{
    plan_add(line, option->name, "%" PRIu64, plan->seed);
}

static int read_seconds(const struct plan_option *option, const char *value,
                        struct plan_options *plan, struct text_error *why)
{
    (void)option;
    if (option_real(value, 0.001, SECONDS_MAX, &plan->limits.seconds, why) == 0)
        return 0;
    text_add(why->text, sizeof why->text, " seconds");
    return -1;
}

static void plan_write_seconds(const struct plan_option *option, const struct plan_options *plan,
                               struct plan_line *line)
{
    plan_add(line, option->name, "%g", plan->limits.seconds);
}

static int read_parts(const struct plan_option *option, const char *value,
                      struct plan_options *plan, struct text_error *why)
{
    (void)option;
    return option_real(value, 0, SECONDS_MAX, &plan->parts, why);
}

static void write_parts(const struct plan_option *option, const struct plan_options *plan,
                        struct plan_line *line)
{
    if (plan->parts > 0)
        plan_add(line, option->name, "%g", plan->parts);
}

/* Returns the second part of "FIRST:SECOND"; NULL and why if the value has another form. */
static const char *split_pair(const char *value, const char *form, char first[80],
                              struct text_error *why)
{
    const char *colon = strchr(value, ':');

    if (!colon || colon - value >= 80) {
        snprintf(why->text, sizeof why->text, "'%.40s' is not %s", value, form);
        return NULL;
    }
    memcpy(first, value, (size_t)(colon - value));
    first[colon - value] = '\0';
    return colon + 1;
}

static int read_steps(const struct plan_option *option, const char *value,
                      struct plan_options *plan, struct text_error *why)
{
    struct cell_limits *limits = &plan->limits;
    char min[80];
    const char *max = split_pair(value, option->arg, min, why);

    if (!max || option_size(min, 1, STEPS_MAX, &limits->min_steps, why) ||
        option_size(max, 1, STEPS_MAX, &limits->max_steps, why))
        return -1;
    if (limits->min_steps <= limits->max_steps)
        return 0;
    return text_fail(why, "%zu is more than %zu", limits->min_steps, limits->max_steps);
}

static void write_steps(const struct plan_option *option, const struct plan_options *plan,
                        struct plan_line *line)
{
    plan_add(line, option->name, "%zu:%zu", plan->limits.min_steps, plan->limits.max_steps);
}

static int read_warmup(const struct plan_option *option, const char *value,
                       struct plan_options *plan, struct text_error *why)
{
    struct cell_limits *limits = &plan->limits;
    char steps[80];
    const char *seconds = split_pair(value, option->arg, steps, why);

    return !seconds || option_size(steps, 1, CELL_WARMUP_MAX, &limits->warmup_steps, why) ||
                   option_real(seconds, 0, WARMUP_SECONDS_MAX, &limits->warmup_seconds, why)
               ? -1
               : 0;
}

/* Writes the warm-up, if there is one, so that commands from before the option existed remain the
 * same. */
static void write_warmup(const struct plan_option *option, const struct plan_options *plan,
                         struct plan_line *line)
{
    if (plan->limits.warmup_steps > 0)
        plan_add(line, option->name, "%zu:%g", plan->limits.warmup_steps,
                 plan->limits.warmup_seconds);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define PLACE(member)  .place = offsetof(struct plan_options, member)
#define MEMBER(member) ((struct plan_options *)0)->member
#define TEXT(member)                                                                               \
    .read = plan_read_text, .write = plan_write_text, PLACE(member), .bytes = sizeof MEMBER(member)
/* A list with its number of values, which the array has space for. */
#define VALUES(member, n)                                                                          \
    PLACE(member), .n_values = offsetof(struct plan_options, n),                                   \
                   .room = sizeof MEMBER(member) / sizeof MEMBER(member)[0]
#define NAMES(member, n) .read = plan_read_names, .write = plan_write_list, VALUES(member, n)
#define NUMBERS(member, n, least, most)                                                            \
    .read = plan_read_list, .write = plan_write_list, VALUES(member, n), .min = (least),           \
    .max = (most)
#define CHOICE(word, first, second, member)                                                        \
    .read = plan_read_choice, .what = (word), .choices = {first, second}, PLACE(member)

const struct plan_option plan_option_table[PLAN_OPTIONS] = {
    {.name = "devices",
     .group = COMMAND_WHAT,
     .key = 'd',
     .arg = "LIST",
     .doc = COMMAND_DEVICES_DOC " (default: one virtual device per core)",
     TEXT(devices)},
    {.name = "backend",
     .group = COMMAND_RARE,
     .key = 'b',
     .arg = "NAME",
     .doc = COMMAND_BACKEND_DOC,
     .ask = ask_backend,
     TEXT(backend)},
    {.name = "communicator",
     .group = COMMAND_RARE,
     .key = 'C',
     .arg = "LIST",
     .doc = COMMAND_COMMUNICATOR_DOC "; with several, like threads,staged, each is measured",
     .ask = ask_communicators,
     NAMES(communicator, n_communicators),
     .axis = {.in_cell = offsetof(struct cell_config, communicator),
              .in_key = offsetof(struct record_key, communicator),
              .bytes = sizeof((struct cell_config *)0)->communicator,
              .modes = (1u << CELL_MODES) - 1,
              .field = "communicator",
              .things = "communicators",
              .because = "whose cells have data to carry",
              .nameless = true}},
    {.name = "math",
     .group = COMMAND_RARE,
     .key = 'x',
     .arg = "NAME",
     .doc = "what matrix products round their operands to: f32 (default: no rounding), bf16, or on "
            "GPUs tf32",
     .read = read_math,
     .write = write_math},
    {.name = "mode",
     .group = COMMAND_WHAT,
     .key = 'M',
     .arg = "LIST",
     .doc = "plain (one device alone), dp (DataParallel), ddp, plain-mt, collective (default: "
            "plain,dp)",
     .read = read_modes,
     .write = write_modes},
    {.name = "counts",
     .group = COMMAND_WHAT,
     .key = 'c',
     .arg = "LIST",
     .doc = "numbers of devices (default: powers of two, and all)",
     NUMBERS(count, n_counts, 1, PLAN_MAX_COUNTS)},
    {.name = "bucket",
     .group = COMMAND_RARE,
     .key = 'k',
     .arg = "LIST",
     .doc = "with --mode ddp: bytes of a bucket of gradients, like 256Ki,25Mi; 0 (default): as "
            "PyTorch, first 1Mi and then 25Mi",
     NUMBERS(bucket, n_buckets, 0, (size_t)1 << 30),
     .axis = {.in_cell = offsetof(struct cell_config, bucket_bytes),
              .in_key = offsetof(struct record_key, bucket_bytes),
              .modes = 1u << CELL_DDP,
              .field = "bucket_bytes",
              .things = "buckets",
              .because = "whose gradients travel in buckets",
              .nameless = true}},
    {.name = "per-process",
     .group = COMMAND_RARE,
     .key = 'D',
     .arg = "LIST",
     .doc = "with --launcher: devices of each process (default 1); 0: all in one process, without "
            "a launcher",
     NUMBERS(per_process, n_per_process, 0, PLAN_MAX_COUNTS),
     .axis = {.in_cell = offsetof(struct cell_config, per_process),
              .in_key = offsetof(struct record_key, per_process),
              .modes = 1u << CELL_DDP | 1u << CELL_COLLECTIVE,
              .field = "per_process",
              .things = "processes",
              .because = "whose ranks can be processes"}},
    {.name = "collective",
     .group = COMMAND_WHAT,
     .key = 'O',
     .arg = "LIST",
     .doc = "in place of models: allreduce, broadcast, allgather, reducescatter, alltoall",
     .ask = ask_collectives,
     NAMES(collective, n_collectives),
     .axis = {.in_cell = offsetof(struct cell_config, collective),
              .in_key = offsetof(struct record_key, workload),
              .bytes = sizeof((struct cell_config *)0)->collective,
              .modes = 1u << CELL_COLLECTIVE,
              .field = "workload",
              .things = "collectives",
              .because = "which has no model",
              .outer = true,
              .nameless = true}},
    {.name = "type",
     .group = COMMAND_RARE,
     .key = 'y',
     .arg = "NAME",
     .doc = "with --collective: f32 (default), f64, i32, or bf16, which is moved but not added",
     .ask = ask_type,
     NAMES(type, n_types),
     .axis = {.in_cell = offsetof(struct cell_config, type),
              .in_key = offsetof(struct record_key, dtype),
              .bytes = sizeof((struct cell_config *)0)->type,
              .modes = 1u << CELL_COLLECTIVE,
              .field = "dtype",
              .things = "types",
              .because = "whose numbers have a type of their own",
              .nameless = true}},
    {.name = "sizes",
     .group = COMMAND_WHAT,
     .key = 'z',
     .arg = "LIST",
     .doc = "with --collective: bytes (default: 8:16Mi:x8)",
     NUMBERS(size, n_sizes, 1, PLAN_MAX_SIZE),
     .axis = {.in_cell = offsetof(struct cell_config, size_bytes),
              .in_key = offsetof(struct record_key, size_bytes),
              .modes = 1u << CELL_COLLECTIVE,
              .field = "size_bytes",
              .things = "size",
              .because = "which has no batch",
              .outer = true,
              .nameless = true}},
    {.name = "out-of-place",
     .group = COMMAND_RARE,
     .key = 'P',
     .arg = "LIST",
     .doc = "with --collective: 0: in place (default), 1: into other memory, 0,1: both; an "
            "alltoall is always into other memory",
     NUMBERS(out_of_place, n_places, 0, 1),
     .axis = {.in_cell = offsetof(struct cell_config, out_of_place),
              .in_key = offsetof(struct record_key, out_of_place),
              .modes = 1u << CELL_COLLECTIVE,
              .field = "out_of_place",
              .things = "places",
              .because = "whose result has a place"}},
    {.name = "scaling",
     .group = COMMAND_RARE,
     .key = 'S',
     .arg = "strong|weak",
     .doc = "strong (default): --batch is that of all devices together; weak: rows per device",
     CHOICE("scaling", "strong", "weak", weak),
     .write = plan_write_choice},
    {.name = "batch",
     .group = COMMAND_WHAT,
     .key = 'n',
     .arg = "LIST",
     .doc = "rows of a step (default: 10,30,32:4096:x2)",
     NUMBERS(batch, n_batches, 1, PLAN_MAX_ROWS)},
    {.name = "workload",
     .group = COMMAND_WHAT,
     .key = 'w',
     .arg = "NAME",
     .doc = WORKLOADS_OR "; can be repeated (default: tutorial, mlp:1024,1024,1024,1024)",
     .repeats = true,
     .read = read_workload,
     .write = write_workloads},
    {.name = "launches",
     .group = COMMAND_HOW_LONG,
     .key = 'l',
     .arg = "N",
     .doc = "launches of each cell (default 1; intervals need 6)",
     .read = read_launches,
     .write = write_launches},
    {.name = "seed",
     .group = COMMAND_RARE,
     .key = 's',
     .arg = "N",
     .doc = "seed of the data, and of the order of cells (default: random)",
     .ask = ask_seed,
     .read = read_seed,
     .write = write_seed},
    {.name = "seconds",
     .group = COMMAND_HOW_LONG,
     .key = 't',
     .arg = "SECONDS",
     .doc = "measured seconds per launch (default 1)",
     .read = read_seconds,
     .write = plan_write_seconds},
    {.name = "steps",
     .group = COMMAND_RARE,
     .key = 'm',
     .arg = "MIN:MAX",
     .doc = "measured steps per launch (default 10:2000)",
     .read = read_steps,
     .write = write_steps},
    {.name = "chain",
     .group = COMMAND_RARE,
     .key = 'i',
     .arg = "LIST",
     .doc = "steps that are timed together, each with the parameters of the one before (default 0: "
            "each step alone)",
     NUMBERS(chain, n_chains, 0, CELL_CHAIN_MAX),
     .axis = {.in_cell = offsetof(struct cell_config, chain),
              .in_key = offsetof(struct record_key, chain),
              .modes = (1u << CELL_MODES) - 1 - (1u << CELL_COLLECTIVE),
              .field = "chain",
              .things = "chains",
              .because = "whose steps train a model"}},
    {.name = "host-inputs",
     .group = COMMAND_RARE,
     .key = 'I',
     .arg = "LIST",
     .doc =
         "where a step finds its batch: 0: on the devices (default), 1: in the host's memory, 0,1: "
         "both",
     NUMBERS(host_inputs, n_host_inputs, 0, 1),
     .axis = {.in_cell = offsetof(struct cell_config, host_inputs),
              .in_key = offsetof(struct record_key, host_inputs),
              .modes = (1u << CELL_MODES) - 1 - (1u << CELL_COLLECTIVE),
              .field = "host_inputs",
              .things = "inputs",
              .because = "whose steps have a batch"}},
    {.name = "warmup",
     .group = COMMAND_RARE,
     .key = 'u',
     .arg = "STEPS:SECONDS",
     .doc = "untimed steps first: at least STEPS, for at least SECONDS (default 5:0.05, on GPUs "
            "20:2; SECONDS is at most --seconds)",
     .read = read_warmup,
     .write = write_warmup},
    {.name = "bind",
     .group = COMMAND_RARE,
     .key = 'B',
     .arg = "cores|none",
     .doc = "bind each device to cores (default) or not",
     CHOICE("binding", "none", "cores", bind),
     .write = plan_write_choice},
    {.name = "graphs",
     .group = COMMAND_RARE,
     .key = 'G',
     .apart = true,
     .arg = "on|off",
     .doc = "on (default) or off: GPUs run repeated steps as CUDA graphs",
     CHOICE("choice", "on", "off", no_graphs),
     .write = plan_write_second},
    {.name = "phases",
     .group = COMMAND_RARE,
     .key = 'A',
     .apart = true,
     .arg = "timed|apart",
     .doc = "which steps give the times of phases. timed (default): the timed steps; apart (always "
            "on GPUs): a separate step before each",
     CHOICE("choice", "timed", "apart", phases_apart),
     .write = plan_write_second},
    {.name = "parts",
     .group = COMMAND_RARE,
     .key = 'p',
     .arg = "SECONDS",
     .doc = "after the steps measure each part of the machine for so many seconds: matrix "
            "products, and copies between devices, host and memory (default 0: no parts)",
     .read = read_parts,
     .write = write_parts},
};
