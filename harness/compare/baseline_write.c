/* compare/baseline_write.c: a sitting as lines of a baseline, and the file with them put in place
 * of the old one.
 *
 * The file is never written to: another one gets all of its lines and the new ones, and then its
 * name. So it is there whole at any time, whatever happens to the program or to the machine. */
#include "compare/baseline.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "files/whole.h"
#include "record/document.h"
#include "record/json.h"
#include "record/memory.h"

static json_t *big(uint64_t number)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    return json_string(digits);
}

static json_t *exact_of(const struct baseline_line *line)
{
    json_t *object = json_object();
    size_t at = 0;

    for (size_t m = 0; m < EXACT_METRICS; ++m) {
        json_t *array = json_array();

        for (size_t i = 0; i < line->n[m]; ++i)
            json_array_append_new(array, value_real(line->exact[at++]));
        json_object_set_new(object, exact_metrics[m].name, array);
    }
    return object;
}

/* NULL: memory is short. Caller frees. */
static char *line_text(const struct baseline_line *line, size_t sitting)
{
    json_t *root = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
        BASELINE_SCHEMA, "machine_class", value_text(line->machine_class), "machine_instance",
        value_text(line->machine_instance), "created_utc", value_text(line->created_utc),
        "start_epoch_ns", big(line->start_epoch_ns), "git_sha", value_text(line->git_sha), "blas",
        value_text(line->blas), "run_id", value_text(line->run_id), "plan_sha256",
        value_text(line->plan_sha256), "records_sha256", value_text(line->records_sha256),
        "sitting", value_count(sitting), "line", value_count(line->line), "of",
        value_count(line->of));

    json_object_update_new(
        root, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cell", value_key(&line->key),
                        "launches", value_count(line->launches), "steps", value_count(line->steps),
                        "floor_statistic", value_text(line->floor_statistic), "floor_log",
                        value_real(line->floor_log), "cost_log", value_real(line->cost_log),
                        "sd_floor", value_real(line->sd_floor), "exact", exact_of(line)));
    return record_memory_text(root, JSON_COMPACT);
}

/* Frees line. */
static int add_text(struct baseline *baseline, char *line)
{
    const size_t length = line ? strlen(line) : 0, room = baseline->bytes + length + 2;
    char *longer = line ? realloc(baseline->text, room) : NULL;

    if (longer) {
        baseline->text = longer;
        snprintf(longer + baseline->bytes, length + 2, "%s\n", line);
        baseline->bytes += length + 1;
    }
    free(line);
    return longer ? 0 : -1;
}

/* The line without its numbers of exact things, which are not needed again. */
static int keep(struct baseline *baseline, const struct baseline_line *line)
{
    struct baseline_lines *lines = &baseline->lines;
    struct baseline_line *longer = realloc(lines->line, (lines->n + 1) * sizeof lines->line[0]);

    if (!longer)
        return -1;
    lines->line = longer;
    longer[lines->n] = *line;
    longer[lines->n].exact = NULL;
    memset(longer[lines->n].n, 0, sizeof longer[lines->n].n);
    ++lines->n;
    return 0;
}

int baseline_add(struct baseline *baseline, const struct baseline_source *source)
{
    for (size_t i = 0; i < source->lines.n; ++i) {
        const struct baseline_line *line = &source->lines.line[i];
        char *chained = line_text(line, baseline->sittings + 1);

        chained = chained ? record_chain_add(chained, baseline->last, true) : NULL;
        if (!chained || digest_sha256(chained, strlen(chained), baseline->last) != 0) {
            free(chained);
            return -1;
        }
        if (add_text(baseline, chained) != 0 || keep(baseline, line) != 0)
            return -1;
    }
    ++baseline->sittings;
    baseline->cells = source->lines.n;
    return 0;
}

int baseline_put(const struct baseline *baseline, struct text_error *err)
{
    const mode_t mode = (mode_t)baseline->mode;
    struct baseline again = *baseline;

    again.lines = (struct baseline_lines){.n = 0};
    const int status = baseline_read_lines(&again, err);

    baseline_lines_free(&again.lines);
    if (status != 0)
        return -1;
    const int failed = whole_put(baseline->path, baseline->text, baseline->bytes,
                                 baseline->is_there ? &mode : NULL);

    return failed == 0 ? 0
                       : record_fail(err, "cannot write %.160s: %s; it is as it was",
                                     baseline->path, strerror(failed));
}
