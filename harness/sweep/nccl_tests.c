/* sweep/nccl_tests.c: see sweep/sweep.h. */
#include "sweep/sweep.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/json.h"
#include "text/options.h"
#include "verify/collective.h"

/* unset: the value if the flag is not given. only: the single value that is supported here, with
 * the reason. */
static const struct flag {
    char letter;
    const char *name, *unset, *only, *because;
} flags[] = {
    {'b', "minbytes", "32M", NULL, NULL},
    {'e', "maxbytes", "32M", NULL, NULL},
    {'i', "stepbytes", "1M", NULL, NULL},
    {'f', "stepfactor", "1", NULL, NULL},
    {'g', "ngpus", "1", NULL, NULL},
    {'t', "nthreads", "1", NULL, NULL},
    {'n', "iters", NULL, NULL, NULL},
    {'w', "warmup_iters", NULL, NULL, NULL},
    {'d', "datatype", "float", NULL, NULL},
    {'c', "check", "1", NULL, NULL},
    {'o', "op", "sum", "sum", "gradients are added"},
    {'r', "root", "0", "0", "device 0 sends"},
    {'m', "agg_iters", "1", "1", "each iteration is timed by itself"},
    {'N', "run_cycles", "1", "1", "--launches repeats a cell"},
    {'z', "blocking", "1", "1", "all wait for each other before each iteration"},
    {'a', "average", "3", "3", "the slowest device counts"},
    {'G', "cudagraph", "0", "0", "each iteration is timed by itself"},
    {'C', "report_cputime", "0", "0", "the time is until the devices are idle"},
    {'u', "unalign", "0", "0", "memory is aligned"},
    {'R', "local_register", "0", "0", "no memory is registered"},
    {'p', "parallel_init", "0", NULL, NULL},
};

enum { FLAGS = sizeof flags / sizeof flags[0] };

struct given {
    const struct collective *collective;
    const char *value[128]; /* by the letter; NULL: not given, and there is no default */
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Finds the flag of a word, "-b", "-b8", "--minbytes" or "--minbytes=8", and the value in it, if
 * any. */
static int find_flag(const char *word, const char **value)
{
    const bool whole = strncmp(word, "--", 2) == 0;
    const size_t length = strcspn(word + (whole ? 2 : 0), "=");

    for (int i = 0; i < FLAGS; ++i) {
        const char *name = flags[i].name;

        if (!whole && word[0] == '-' && word[1] == flags[i].letter) {
            *value = word[2] != '\0' ? word + 2 : NULL;
            return i;
        }
        if (whole && strlen(name) == length && strncmp(word + 2, name, length) == 0) {
            *value = word[2 + length] == '=' ? word + 3 + length : NULL;
            return i;
        }
    }
    return -1;
}

/* Splits text into words; given points into it afterwards. */
static int read_words(char *text, struct given *given, struct text_error *why)
{
    bool seen[FLAGS] = {false};
    char *rest = text, *word = strtok_r(NULL, " \t", &rest);
    const char *name = word && strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
    char known[160] = "";

    given->collective = name ? collective_of_nccl(name) : NULL;
    if (!given->collective) {
        for (int i = 0; i < COLLECTIVES; ++i)
            text_list(known, sizeof known, ", ", collectives[i].nccl_program);
        return record_fail(why,
                           "'%.40s' is no program of nccl-tests that is known here; known are %s",
                           name ? name : "", known);
    }
    for (int i = 0; i < FLAGS; ++i)
        given->value[(int)flags[i].letter] = flags[i].unset;
    while ((word = strtok_r(NULL, " \t", &rest))) {
        const char *value = NULL;
        const int id = find_flag(word, &value);
        const struct flag *flag = &flags[id < 0 ? 0 : id];

        for (int i = 0; id < 0 && i < FLAGS; ++i)
            text_add(known, sizeof known, "%s-%c", i > 0 ? " " : "", flags[i].letter);
        if (id < 0)
            return record_fail(why, "'%.40s' is not known here; known are %s", word, known);
        value = value ? value : strtok_r(NULL, " \t", &rest);
        if (!value)
            return record_fail(why, "-%c needs a value", flag->letter);
        if (seen[id])
            return record_fail(why, "-%c is given twice", flag->letter);
        if (flag->only && strcmp(value, flag->only) != 0)
            return record_fail(why, "-%c %.40s: only %s can be had, because %s", flag->letter,
                               value, flag->only, flag->because);
        seen[id] = true;
        given->value[(int)flag->letter] = value;
    }
    return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int read_number(const struct given *given, char letter, size_t max, size_t *number,
                       struct text_error *why)
{
    struct text_error reason = {""};

    if (option_size(given->value[(int)letter], 1, max, number, &reason) == 0)
        return 0;
    return record_fail(why, "-%c: %.200s", letter, reason.text);
}

/* Reads a size with binary units: "128M" means Mebibytes, which is "128Mi" here. */
static int read_flag_bytes(const struct given *given, char letter, size_t *bytes,
                           struct text_error *why)
{
    const char *value = given->value[(int)letter];
    const size_t length = strlen(value);
    struct text_error reason = {""};
    char size[32] = "";

    if (length > 0 && length <= 28)
        memcpy(size, value, length + 1);
    if (size[0] != '\0' && strchr("kmgKMG", size[length - 1])) {
        size[length - 1] = (char)toupper((unsigned char)size[length - 1]);
        memcpy(size + length, "i", 2);
    }
    if (option_size(size, 1, PLAN_MAX_SIZE, bytes, &reason) == 0)
        return 0;
    return record_fail(why, "-%c %.40s: not a whole number of 1 to %zu, with K, M or G behind it",
                       letter, value, PLAN_MAX_SIZE);
}

static int add_option(struct nccl_options *options, struct text_error *why, const char *name,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

static int add_option(struct nccl_options *options, struct text_error *why, const char *name,
                      const char *format, ...)
{
    char *value = options->row[options->n].value;
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(value, NCCL_VALUE, format, args);
    va_end(args);
    if (length < 0 || length >= NCCL_VALUE)
        return record_fail(why, "too long for --%s", name);
    options->row[options->n++].name = name;
    return 0;
}

/* Adds the sizes that nccl-tests steps through, each rounded up to whole units, and each once. */
static int read_sizes(const struct given *given, size_t unit, struct nccl_options *options,
                      struct text_error *why)
{
    char text[NCCL_VALUE] = "";
    size_t first, last, by, factor, n = 0, before = 0;

    if (read_flag_bytes(given, 'b', &first, why) || read_flag_bytes(given, 'e', &last, why) ||
        read_flag_bytes(given, 'i', &by, why) ||
        read_number(given, 'f', PLAN_MAX_SIZE, &factor, why))
        return -1;
    if (last < first)
        return record_fail(why, "-e %s is less than -b %s", given->value['e'], given->value['b']);
    for (size_t size = first;;) {
        const size_t rounded = (size + unit - 1) / unit * unit;

        if (rounded != before && ++n > PLAN_MAX_SIZES)
            return record_fail(why,
                               "more than %d sizes of %zu to %zu bytes: say -f, or a larger -i",
                               PLAN_MAX_SIZES, first, last);
        if (rounded != before)
            text_add(text, sizeof text, "%s%zu", n > 1 ? "," : "", rounded);
        before = rounded;
        /* The comparison comes before the computation, so that it cannot overflow. */
        if (factor > 1 ? size > last / factor : by > last - size)
            break;
        size = factor > 1 ? size * factor : size + by;
    }
    return add_option(options, why, "sizes", "%s", text);
}

int nccl_tests_options(const char *command, struct nccl_options *options, struct text_error *why)
{
    struct given given = {.collective = NULL};
    size_t gpus = 0, threads = 0, iterations = 0, warmup = 0, checks;
    char text[1024];

    options->n = 0;
    if (strlen(command) >= sizeof text)
        return record_fail(why, "longer than %zu characters", sizeof text - 1);
    memcpy(text, command, strlen(command) + 1);
    if (read_words(text, &given, why))
        return -1;

    const struct collective *collective = given.collective;
    const struct collective_type *type = collective_type_of_nccl(given.value['d']);

    if (!type)
        return record_fail(why, "-d %.40s: known are float, double, int32, bfloat16",
                           given.value['d']);
    if (read_number(&given, 'g', PLAN_MAX_COUNTS, &gpus, why) ||
        read_number(&given, 't', PLAN_MAX_COUNTS, &threads, why))
        return -1;
    if (gpus * threads < 2)
        return record_fail(why, "one rank has nobody to talk to: say -g 2 or more");
    if (add_option(options, why, "collective", "%s", collective->name) ||
        add_option(options, why, "type", "%s", type->name) ||
        add_option(options, why, "counts", "%zu", gpus * threads) ||
        add_option(options, why, "out-of-place", "%s", collective->out_of_place ? "1" : "0,1") ||
        read_sizes(&given, collective_unit(collective, type, (int)(gpus * threads)), options, why))
        return -1;
    /* Every iteration is checked, whatever -c says. */
    if (read_number(&given, 'c', SIZE_MAX - 1, &checks, why))
        return record_fail(why, "-c %.40s: every iteration is checked here, so at least 1",
                           given.value['c']);
    if (given.value['n'] && (read_number(&given, 'n', SIZE_MAX - 1, &iterations, why) ||
                             add_option(options, why, "steps", "%zu:%zu", iterations, iterations)))
        return -1;
    if (given.value['w'] && (read_number(&given, 'w', SIZE_MAX - 1, &warmup, why) ||
                             add_option(options, why, "warmup", "%zu:0", warmup)))
        return -1;
    return 0;
}
