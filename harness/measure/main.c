/* measure/main.c: the worker process of a sweep: one cell, one record on stdout.
 *
 * Everything that can go wrong in a cell is in its record; the exit status is 0 whenever a record
 * was written. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "command/command.h"
#include "measure/measure.h"
#include "text/options.h"

static int parse_number(const char *arg, size_t max, size_t *value)
{
    struct text_error why;

    return option_size(arg, 0, max, value, &why);
}

/* Where a whole number goes; NULL: the key is not of one. */
static size_t *number_field(struct cell_config *config, int key)
{
    switch (key) {
    case 'n':
        return &config->rows;
    case 'o':
        return &config->order_index;
    case 'm':
        return &config->limits.min_steps;
    case 'M':
        return &config->limits.max_steps;
    case 'B':
        return &config->bucket_bytes;
    default:
        return NULL;
    }
}

/* Of an option without an argument; NULL: the key is of another. */
static bool *flag_field(struct cell_config *config, int key)
{
    switch (key) {
    case 'c':
        return &config->bind;
    case 'g':
        return &config->no_graphs;
    default:
        return NULL;
    }
}

static int parse_text(struct cell_config *config, int key, const char *arg)
{
    char why[200];
    size_t value = 0;
    int status = 0;

    switch (key) {
    case 'w':
        return workload_parse(arg, &config->workload, why, sizeof why);
    case 'd':
        return command_copy(config->devices, sizeof config->devices, arg);
    case 'b':
        return command_copy(config->backend, sizeof config->backend, arg);
    case 'C':
        return command_copy(config->communicator, sizeof config->communicator, arg);
    case 'x':
        for (config->math = 0; config->math < DP_MATHS; ++config->math)
            if (strcmp(arg, dp_math_name(config->math)) == 0)
                return 0;
        return -1;
    case 'e':
        for (config->mode = 0; config->mode < CELL_MODES; ++config->mode)
            if (strcmp(arg, cell_mode_names[config->mode]) == 0)
                return 0;
        return -1;
    case 'r':
        return command_copy(config->run_id, sizeof config->run_id, arg);
    case 'k':
        status = parse_number(arg, DP_MAX_SLOTS, &value);
        config->n_devices = (int)value;
        return status;
    case 'l':
        status = parse_number(arg, INT_MAX, &value);
        config->launch = (int)value;
        return status;
    case 's':
        status = parse_number(arg, SIZE_MAX, &value);
        config->seed = value;
        return status;
    default:
        config->limits.seconds = strtod(arg, NULL);
        return 0;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct cell_config *config = state->input;
    size_t *number = number_field(config, key);
    int status;

    if (flag_field(config, key)) {
        *flag_field(config, key) = true;
        return 0;
    }
    if (!number && (key < 1 || key > 127 || !strchr("wdbCrklstxe", key)))
        return command_key(key, arg, state);
    status = number ? parse_number(arg, SIZE_MAX / 4, number) : parse_text(config, key, arg);
    return status == 0 ? 0 : command_bad_option(state, "cannot use '%.60s'", arg);
}

int cell_main(int argc, char **argv)
{
    static const struct argp_option table[] = {{.name = "workload", .key = 'w', .arg = "NAME"},
                                               {.name = "devices", .key = 'd', .arg = "LIST"},
                                               {.name = "count", .key = 'k', .arg = "K"},
                                               {.name = "backend", .key = 'b', .arg = "NAME"},
                                               {.name = "communicator", .key = 'C', .arg = "NAME"},
                                               {.name = "math", .key = 'x', .arg = "NAME"},
                                               {.name = "rows", .key = 'n', .arg = "N"},
                                               {.name = "seed", .key = 's', .arg = "S"},
                                               {.name = "seconds", .key = 't', .arg = "T"},
                                               {.name = "min-steps", .key = 'm', .arg = "N"},
                                               {.name = "max-steps", .key = 'M', .arg = "N"},
                                               {.name = "bind-cores", .key = 'c'},
                                               {.name = "mode", .key = 'e', .arg = "NAME"},
                                               {.name = "bucket", .key = 'B', .arg = "BYTES"},
                                               {.name = "no-graphs", .key = 'g'},
                                               {.name = "launch", .key = 'l', .arg = "L"},
                                               {.name = "order", .key = 'o', .arg = "I"},
                                               {.name = "run-id", .key = 'r', .arg = "ID"},
                                               {0}};
    const struct argp argp = {.options = table,
                              .parser = parse_option,
                              .doc = "Worker of sweep: measures one cell, prints its record."};
    struct cell_config config = {.backend = "cpu", .limits = {1, 10, 2000}};
    struct record_cell cell = {.status = RECORD_BROKEN};
    int status = command_parse(&argp, argc, argv, &config);
    char *text;

    if (status)
        return status;
    prctl(PR_SET_NAME, "lockstep cell"); /* it was started as /proc/self/exe */
    if (config.workload.n_sizes == 0 || config.rows == 0 || config.n_devices == 0 ||
        config.limits.max_steps == 0 || config.limits.min_steps > config.limits.max_steps ||
        !(config.limits.seconds >= 0)) {
        fprintf(stderr, "%s: needs --workload, --devices, --count, --rows and sensible limits\n",
                argv[0]);
        return EXIT_MISUSE;
    }
    cell_measure(&config, &cell);
    text = record_cell_text(&cell);
    if (text)
        puts(text);
    else
        fprintf(stderr, "%s: out of memory for the record\n", argv[0]);
    free(text);
    record_cell_free(&cell);
    return text ? EXIT_PASSED : EXIT_FAILED;
}
