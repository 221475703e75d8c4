/* validate/learn.c: makes a profile from sessions of a machine that works well, with limits that
 * nearly all of its sessions keep.
 *
 * A session is a file of records. The launches of one session have in common the state of the
 * machine on that day, so the unit is the file. The value of a session is the one that `lockstep
 * validate` would compare with a limit: the upper bound of its launches. A limit is the one-sided
 * tolerance bound of the logarithms of these: 95 % of sessions with as many launches keep it, with
 * a confidence of 95 %. */
#include "validate/validate.h"

#include "command/command.h"
#include "machine/machine.h"
#include "numbers/stats.h"
#include "plan/plan.h"
#include "text/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SESSIONS = 6, DATE_BYTES = 11, NOTE = 1024 };
/* A bound that is wider than this is no limit; see validate/limit.c. */
static const double WIDEST = 1.0 / 0.3;
static const double SHARE = 0.95;
/* Four digits are printed; a bound that is rounded down would be below the values of the
 * sessions. */
static const double UP = 1.0005;

struct learning {
    struct report *session;
    size_t n;
    const char *command, *name;
    const char *out;     /* where standard output goes */
    const char *about;   /* metrics, with commas between them; NULL: the usual ones */
    bool near;           /* sessions that are not RECORD_SITTINGS_APART */
    size_t days, starts; /* different ones, of the machine */
    size_t launches, disturbed;
    FILE *to;
    double *bound; /* logarithms, by session, of a value that is better if less */
    char *without; /* "; no limit, .. on step_time": metrics without one; NOTE bytes */
};

/* ---- whether they can be learned from ----------------------------------------------------- */

/* Reads a session, and checks that a profile can be learned from it. */
static int read_session(const struct learning *learning, size_t f, char *const paths[])
{
    struct report *report = &learning->session[f];
    const int status = validate_open(learning->command, &paths[f], 1, report);

    if (status != 0)
        return status;
    const struct record_run *run = &report->file[0].run, *first = &learning->session[0].file[0].run;
    const char *const command = learning->command, *const path = paths[f];
    char doubt[PROVENANCE_DOUBTS][PROVENANCE_DOUBT];

    if (run->machine_class[0] == '\0')
        return command_refuse(command, "%.150s: its class of machine is not known", path);
    if (strcmp(run->machine_class, first->machine_class) != 0)
        return command_refuse(
            command, "%.150s: it is of another class of machine than the first file", path);
    /* A limit for times with one library of matrix products is not valid for another. */
    if (strcmp(run->blas, first->blas) != 0)
        return command_refuse(command,
                              "%.150s: another library of matrix products, \"%s\", than \"%s\" of "
                              "the first file",
                              path, run->blas, first->blas);
    if (report->counts.verified < report->counts.planned)
        return command_refuse(
            command, "%.150s: not all launches that it plans are measured and verified", path);
    if (provenance_doubts(run, PROVENANCE_REFUSED, doubt) > 0)
        return command_refuse(command, "%.150s: it is of %s", path, doubt[0]);
    for (size_t other = 0; other < f; ++other) {
        const struct record_file *file = &learning->session[other].file[0];
        struct text_error copied;

        if (strcmp(run->run_id, file->run.run_id) == 0)
            return command_refuse(command, "%.150s: it is a session that another file has, too",
                                  path);
        if (record_copied(&report->file[0], file, &copied) != 0)
            return command_refuse(command, "%.150s: %s", path, copied.text);
    }
    return 0;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* Says what the profile does not show, as a comment in it and on standard error. */
static void learn_note(const struct learning *learning, const char *text)
{
    fputs("  # ", learning->to);
    text_wrap(learning->to, TEXT_PLAIN, text, 76, "  # ", 80);
    command_say(stderr, 2, "%s: %s", learning->command, text);
}

/* Prints a text in quotes. All characters but ASCII are codes, because some of them end a line of
 * YAML. */
static void print_text(FILE *to, const char *text)
{
    uint32_t code = 0;

    putc('"', to);
    for (size_t length; *text != '\0'; text += length > 0 ? length : 1) {
        length = text_decode(text, &code);
        if (length == 1 && code >= ' ' && code < 0x7f)
            fprintf(to, "%s%c", code == '"' || code == '\\' ? "\\" : "", (char)code);
        else
            fprintf(to, "\\U%08x", (unsigned)(length > 0 ? code : '?'));
    }
    putc('"', to);
}

static void print_limit(const struct learning *learning, const struct profile_limit *limit,
                        const struct record_key *key, double bound, double expected)
{
    const char *first = learning->session[0].file[0].run.created_utc;
    const char *last = learning->session[learning->n - 1].file[0].run.created_utc;
    char number[QUANTITY_TEXT], source[256];
    FILE *const to = learning->to;

    snprintf(source, sizeof source,
             "%zu sessions, %.10s to %.10s, of commit %.12s; 95 %% of sessions keep it, with a "
             "confidence of 95 %%%s",
             learning->n, first, last, learning->session[0].file[0].run.git_sha,
             learning->near ? "; NOT APART: some are less than 6 hours from another one, in the "
                              "same start of the machine"
                            : "");
    fprintf(to, "  - metric: %s\n    statistic: %s\n", limit->metric, limit->statistic);
    fprintf(to, "    at: {workload: ");
    print_text(to, key->workload);
    fprintf(to, ", mode: %s, devices: %d, batch: %zu, backend: ", key->mode, key->n_devices,
            key->global_batch); /* the reader of records checks modes and maths */
    print_text(to, key->backend);
    fprintf(to, ", communicator: ");
    print_text(to, key->communicator);
    fprintf(to, ", math: %s", key->dtype);
    if (key->chain > 0)
        fprintf(to, ", chain: %zu", key->chain);
    if (key->host_inputs > 0)
        fprintf(to, ", host_inputs: %zu", key->host_inputs);
    if (limit->row->bytes)
        fprintf(to, ", bytes: %.0f B", limit->at_bytes);
    fprintf(to, "}\n");
    fprintf(to, "    %s: %s\n", limit->row->higher ? "min" : "max",
            quantity_words(limit->row->higher ? bound / UP : bound * UP, limit->row->kind, number));
    fprintf(to, "    expected: %s\n", quantity_words(expected, limit->row->kind, number));
    fprintf(to, "    kind: binding\n    source: ");
    print_text(to, source);
    fprintf(to, "\n    date: %.10s\n    evidence: learned\n", last);
}

/* Learns one limit. Returns whether it was printed; else a note says why there is none. */
static bool learn_limit(const struct learning *learning, const struct report_point *point,
                        const struct validate_metric *metric)
{
    const struct record_key *key = &point->row->cell->key;
    const enum validate_statistic by = metric->in_parts ? VALIDATE_LEAST : VALIDATE_FLOOR;
    const struct profile_limit limit = {.metric = metric->name,
                                        .statistic = validate_statistics[by].name,
                                        .at = validate_place_of(key),
                                        .row = metric,
                                        .at_bytes =
                                            metric->bytes ? metric->bytes(metric, point->row) : 0,
                                        .by = by,
                                        .least = -INFINITY,
                                        .most = INFINITY};
    const double sign = metric->higher ? -1.0 : 1.0, n = (double)learning->n;
    const struct profile any = {.n_limits = 0};
    struct validate_judged judged = {.limit = &limit};
    char place[VALIDATE_TEXT], said[VALIDATE_TEXT + 160], text[NOTE];
    double bound = 0, middle = 0, scatter = 0, best = INFINITY;
    bool all = true; /* each session has a value */

    for (size_t f = 0; f < learning->n && all; ++f) {
        const struct validate validate = {.profile = &any, .report = &learning->session[f]};

        validate_judge_limit(&validate, &limit, 1.0, &judged);
        all = judged.verdict == VALIDATE_PASS && judged.middle > 0.0;
        learning->bound[f] = sign * log(metric->higher ? judged.lo : judged.hi);
        bound += learning->bound[f];
        middle += sign * log(judged.middle);
        best = fmin(best, sign * log(metric->higher ? judged.hi : judged.lo));
    }
    bound /= n;
    middle /= n;
    for (size_t f = 0; f < learning->n; ++f)
        scatter += (learning->bound[f] - bound) * (learning->bound[f] - bound);
    bound += tolerance_factor(learning->n, SHARE, SHARE) * sqrt(scatter / (n - 1.0));
    /* At 0.3 of its speed the best session fails the limit. */
    if (!all || UP * exp(bound - best) > WIDEST) {
        validate_place_words(&judged, place);
        validate_message_words(&judged, said);
        snprintf(text, sizeof text, "NOTE: no limit on %s of %s: %s", metric->name, place,
                 all ? "the sessions differ too much" : said);
        learn_note(learning, text);
        if (!text_has_word(learning->without, metric->name))
            text_add(learning->without, NOTE, "%s %s",
                     learning->without[0] == '\0' ? "; no limit, at one place or more, on" : "",
                     metric->name);
        return false;
    }
    print_limit(learning, &limit, key, exp(sign * bound), exp(sign * middle));
    return true;
}

static void note_sessions(const struct learning *learning)
{
    char text[NOTE];

    snprintf(text, sizeof text,
             "NOTE: the %zu sessions are of %zu day%s and %zu start%s of the machine. They do not "
             "show how days and starts differ, and the same machine may fail these limits on "
             "another day. Learn from sessions of different days, each after a restart.",
             learning->n, learning->days, learning->days == 1 ? "" : "s", learning->starts,
             learning->starts == 1 ? "" : "s");
    if (learning->days < 2 || learning->starts < 2 || learning->near)
        learn_note(learning, text);
    snprintf(text, sizeof text,
             "NOTE: other work disturbed %zu of %zu launches, so limits are wider than those of a "
             "quiet machine. End other programs, and measure again.",
             learning->disturbed, learning->launches);
    if (10 * learning->disturbed > learning->launches)
        learn_note(learning, text);
}

static int learn_all(const struct learning *learning)
{
    const struct record_run *run = &learning->session[0].file[0].run;
    const bool disturbed = 2 * learning->disturbed > learning->launches;
    int limits = 0, speeds = 0, launches = run->launches;
    char text[NOTE];

    for (size_t f = 1; f < learning->n; ++f)
        launches = (int)fmin(launches, learning->session[f].file[0].run.launches);
    fprintf(learning->to, "schema: %s\nname: ", PROFILE_SCHEMA);
    print_text(learning->to, learning->name);
    fprintf(learning->to,
            "\nmatch:\n  machine_class: %s\nrequires: {launches: %d}\nlearned_from:\n",
            run->machine_class, launches);
    for (size_t f = 0; f < learning->n; ++f)
        fprintf(learning->to, "  - \"%s\"\n", learning->session[f].file[0].run.run_id);
    if (disturbed)
        fprintf(learning->to, "not_shown: learned while other work disturbed %zu of %zu launches\n",
                learning->disturbed, learning->launches);
    fputs("limits:\n", learning->to);
    note_sessions(learning);
    for (size_t i = 0; i < learning->session[0].n_points; ++i) {
        const struct report_point *point = &learning->session[0].point[i];
        const struct record_cell *cell = point->row->cell;
        const struct record_key *key = &cell->key;
        struct record_key others = *key;
        char axes[PLAN_AXES_TEXT];

        others.chain = others.host_inputs = 0; /* limits name these two themselves */
        plan_axes_words(&others, " its ", true, axes);
        if (axes[0] != '\0') {
            snprintf(text, sizeof text, "NOTE: no limit on %s %s on %d, %zu row%s: none can name%s",
                     key->workload, key->mode, key->n_devices, key->global_batch,
                     text_s(key->global_batch), axes);
            learn_note(learning, text);
            continue;
        }
        for (int m = 0; m < VALIDATE_METRICS; ++m) {
            const struct validate_metric *metric = &validate_metrics[m];
            const bool alone = key->n_devices == 1 && metric->kind == QUANTITY_RATIO;
            const bool speed = metric->kind != QUANTITY_RATIO && metric->kind != QUANTITY_BYTES;
            /* Without a list these are the step time, the difference between devices, and all parts
             * that were measured. */
            const bool wanted = learning->about
                                    ? text_has_word(learning->about, metric->name)
                                    : text_has_word("step_time device_spread", metric->name) ||
                                          (metric->in_parts && cell->part[metric->part].ns);

            if (metric->counted || alone || !wanted)
                continue;
            const bool learned = learn_limit(learning, point, metric);

            limits += learned;
            speeds += learned && speed;
        }
    }
    if (limits == 0)
        return command_refuse(learning->command, "no cell of these sessions makes a limit");
    /* It is read again first, so that a printed profile is one that can be read. */
    struct profile *profile;
    struct text_error why = {"the file system is full"};
    char path[32];

    snprintf(path, sizeof path, "/dev/fd/%d", fileno(learning->to));
    if (fflush(learning->to) != 0 || profile_read(path, &profile, &why) != 0)
        return command_refuse(learning->command, "what was learned cannot be read: %s", why.text);
    profile_free(profile);
    rewind(learning->to);
    for (int c; (c = getc(learning->to)) != EOF;)
        putchar(c);
    if (ferror(learning->to))
        return EXIT_MISUSE;
    command_say(stderr, 2,
                "%s: %d limits, %d of them on speed, from %zu launches (%zu disturbed; sessions: "
                "%zu, days: %zu, starts of the machine: %zu); written to %s%s. Next: lockstep "
                "validate check PROFILE",
                learning->command, limits, speeds, learning->launches, learning->disturbed,
                learning->n, learning->days, learning->starts, learning->out, learning->without);
    if (speeds == 0)
        command_say(stderr, 2, "%s: NOTE: no limit on speed: slow machines pass",
                    learning->command);
    if (disturbed)
        command_say(stderr, 2,
                    "%s: NOT SHOWN: other work disturbed %zu of %zu launches, and limits are "
                    "learned where it disturbs at most half: use none of these",
                    learning->command, learning->disturbed, learning->launches);
    return speeds > 0 && !disturbed ? EXIT_PASSED : VALIDATE_EXIT_NOT_SHOWN;
}

int validate_learn(const char *command, const char *name, const char *about, const char *out,
                   char *const paths[], size_t n)
{
    for (const char *at = about; at && *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        char metric_name[24];

        snprintf(metric_name, sizeof metric_name, "%.*s", (int)strcspn(at, ","), at);
        const struct validate_metric *metric = validate_metric_find(metric_name);

        if (!metric || metric->counted)
            return command_refuse(command, "--about: no limit of '%s' is learned; see --metrics",
                                  metric_name);
    }
    char without[NOTE] = "";
    struct learning learning = {.without = without,
                                .session = cli_alloc(n, sizeof *learning.session),
                                .command = command,
                                .name = name,
                                .about = about,
                                .out = out,
                                .to = tmpfile(),
                                .bound = cli_alloc(n, sizeof *learning.bound)};
    int status = 0;

    if (!learning.to)
        status = command_refuse(command, "no temporary file");
    while (status == 0 && learning.n < n) {
        status = read_session(&learning, learning.n, paths);
        ++learning.n;
    }
    if (status == 0 && n < LEAST_SESSIONS)
        status =
            command_refuse(command, "a profile takes at least %d files, a session each, not %zu",
                           LEAST_SESSIONS, n);
    /* Sessions of the same start of the machine, and within hours, do not show how days differ. */
    for (size_t f = 0; f < learning.n && status == 0; ++f) {
        const struct record_file *a = learning.session[f].file;
        bool day = true, start = true;

        for (size_t other = 0; other < f; ++other) {
            const struct record_file *b = learning.session[other].file;
            const bool same = strcmp(a->run.machine_instance, b->run.machine_instance) == 0;
            const uint64_t x = a->cell[0].start_epoch_ns, y = b->cell[0].start_epoch_ns;

            learning.near =
                learning.near || (same && (x > y ? x - y : y - x) < RECORD_SITTINGS_APART);
            day = day && strncmp(a->run.created_utc, b->run.created_utc, DATE_BYTES - 1) != 0;
            start = start && !same;
        }
        learning.days += day;
        learning.starts += start;
        learning.launches += learning.session[f].n_rows;
        for (size_t i = 0; i < learning.session[f].n_rows; ++i)
            learning.disturbed += report_disturbed(&learning.session[f].row[i]);
    }
    if (status == 0)
        status = learn_all(&learning);
    for (size_t f = 0; f < learning.n; ++f)
        validate_close(&learning.session[f]);
    free(learning.session);
    free(learning.bound);
    if (learning.to)
        fclose(learning.to);
    return status;
}
