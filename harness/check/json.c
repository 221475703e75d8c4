/* check/json.c: the result for programs: lockstep/check/1.0. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "build_info.h"
#include "check/runner.h"
#include "dp.h"
#include "machine/machine.h"
#include "record/json.h"
#include "text/alloc.h"
#include "words.h"

static json_t *capabilities_array(uint64_t capabilities)
{
    json_t *words = json_array();

    for (int i = 0; i < RUNNER_CAPABILITIES; ++i)
        if (capabilities >> i & 1)
            json_array_append_new(words, value_text(impl_capability_word((uint64_t)1 << i)));
    return words;
}

static json_t *profiles_array(unsigned profiles)
{
    json_t *words = json_array();

    for (int p = 0; p < RUNNER_PROFILES; ++p)
        if (profiles & runner_profiles[p].bit)
            json_array_append_new(words, value_text(runner_profiles[p].name));
    return words;
}

static json_t *impl_object(const struct runner_run *run)
{
    const struct impl_about *about = &run->is.about;
    json_t *names = json_array(), *dialects = json_object();

    for (int i = 0; i < about->devices; ++i)
        json_array_append_new(names, value_text(about->device_name[i]));
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (about->dialect[i] != IMPL_UNDECLARED)
            json_object_set_new(dialects, impl_dialect_word((enum impl_dialect)i),
                                value_text(impl_choice_word(about->dialect[i])));
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:I, s:b, s:o, s:I, s:I, s:o, "
        "s:f, s:b}",
        "name", value_text(about->name), "version", value_text(about->version), "blas",
        about->blas[0] != '\0' ? value_text(about->blas) : json_null(), "gpu_software",
        about->gpu_software[0] != '\0' ? value_text(about->gpu_software) : json_null(), "spec",
        value_text(run->options->impl), "options", value_text(run->options->impl_options),
        "device_list", value_text(run->options->devices), "devices", about->devices, "device_names",
        names, "capabilities", capabilities_array(about->capabilities), "dialects", dialects,
        "seed", (json_int_t)run->options->seed, "process", run->is.process ? 1 : 0, "launcher",
        value_text(run->options->launcher), "processes", (json_int_t)run->options->world.processes,
        "per_process", (json_int_t)run->options->world.per_process, "known",
        value_text(run->options->known), "timeout", run->options->limit_s, "same_process",
        run->options->same_process ? 1 : 0);
}

static json_t *sums_object(const struct runner_area_sums *sums)
{
    json_t *object = json_pack("{s:s}", "area", sums->name);

    for (int i = 0; i < RULES_COUNTED; ++i)
        json_object_set_new(object, runner_rules_words[i], json_integer((json_int_t)sums->rule[i]));
    return object;
}

static json_t *rules_object(const struct runner_run *run, const struct runner_sums *sums)
{
    json_t *areas = json_array(), *excuses = json_array();
    json_t *object = sums_object(&sums->row[sums->n]);

    for (size_t r = 0; r < sums->n; ++r) {
        const struct check_area *area = sums->row[r].area;

        if (!area)
            continue;
        json_array_append_new(areas, sums_object(&sums->row[r]));
        for (int i = 0; i < area->n_excuses; ++i)
            json_array_append_new(excuses, json_pack("{s:o, s:b, s:o}", "rule",
                                                     value_text(area->excuses[i].rule), "pending",
                                                     area->excuses[i].pending ? 1 : 0, "reason",
                                                     value_text(area->excuses[i].reason)));
    }
    json_object_set_new(object, "areas", areas);
    json_object_set_new(object, "excuses", excuses);
    json_object_set_new(object, "profiles", profiles_array(run->profiles));
    json_object_set_new(object, "partial", json_boolean(run->options->part));
    json_object_set_new(object, "left_out", json_integer((json_int_t)runner_left_out(run)));
    return object;
}

void runner_list_json(FILE *stream, const struct check_case *const tests[], size_t n)
{
    json_t *cases = json_array();

    for (size_t i = 0; i < n; ++i) {
        const struct check_case *test = tests[i];
        const char *area = runner_area_name(test);

        json_array_append_new(
            cases, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:i}", "id", test->id,
                             "rule", test->rule, "sentence", check_words(test->rule), "obligation",
                             runner_obligation_words[test->obligation], "evidence",
                             runner_evidence_words[test->evidence], "area", area, "area_words",
                             check_words(area), "profiles", profiles_array(test->profiles), "needs",
                             capabilities_array(test->needs), "devices", test->devices));
    }
    (void)document_print(stream,
                         json_pack("{s:s, s:o}", "schema", "lockstep/cases/1.0", "cases", cases));
}

int runner_json(FILE *stream, const struct runner_run *run, struct text_error *why)
{
    char class[DIGEST_HEX] = "", instance[DIGEST_HEX] = "", program[DIGEST_HEX];
    char sentence[RUNNER_TEXT], *document;
    struct record_run *here = cli_alloc(1, sizeof *here);
    json_t *cases = json_array(), *counts, *root;
    struct runner_sums sums;
    struct dp_machine machine;
    struct dp_error err = {0};
    int status = -1;

    /* The members that records also have about the machine and the program, so that a check result
     * can be compared with them. */
    provenance_build(here);
    if (dp_machine_read(&machine, &err) == 0 && machine_class("", &machine, class) == 0 &&
        machine_instance("", instance) == 0)
        status = provenance_program(here, program);
    for (size_t i = 0; i < run->n && status == 0; ++i) {
        const struct runner_result *result = &run->result[i];
        const struct check_case *test = result->test;

        json_array_append_new(
            cases,
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:f, s:I, s:b, s:i}",
                      "id", test->id, "rule", test->rule, "sentence", result->sentence,
                      "obligation", runner_obligation_words[test->obligation], "evidence",
                      runner_evidence_words[test->evidence], "verdict",
                      runner_verdict_words[result->verdict], "reason", value_text(result->reason),
                      "scenario", value_text(result->scenario), "hint", value_text(result->hint),
                      "compared", (json_int_t)result->compared, "seconds",
                      round(result->seconds * 1e6) / 1e6, "left_behind",
                      (json_int_t)result->strays.n, "known", result->known ? 1 : 0, "needs_devices",
                      result->few_devices));
    }
    if (status != 0) {
        json_decref(cases);
        free(here);
        return text_fail(why,
                         "which machine this is could not be read, for want of memory or of files");
    }
    runner_sums_of(run, &sums);
    const struct runner_area_sums *total = &sums.row[sums.n];

    counts = json_pack(
        "{s:s, s:i, s:b, s:I, s:I, s:I, s:I, s:I, s:f}", "verdict",
        run->interrupted ? "BROKEN" : runner_verdict(run, sentence), "exit", runner_exit(run),
        "interrupted", run->interrupted ? 1 : 0, "cases", (json_int_t)total->cases, "pass",
        (json_int_t)total->verdict[CHECK_PASS], "fail", (json_int_t)total->verdict[CHECK_FAIL],
        "skip", (json_int_t)total->verdict[CHECK_SKIP], "broken",
        (json_int_t)total->verdict[CHECK_BROKEN], "seconds", round(run->seconds * 1e3) / 1e3);
    root = json_pack("{s:s, s:s, s:s, s:s, s:o, s:{s:s, s:s, s:s}, s:o, s:o, s:o}", "schema",
                     "lockstep/check/1.0", "created_utc", here->created_utc, "program_version",
                     BUILD_VERSION, "git", BUILD_GIT, "impl", impl_object(run), "machine", "class",
                     class, "instance", instance, "program", program, "cases", cases, "counts",
                     counts, "rules", rules_object(run, &sums));
    free(here);
    document =
        record_chain_add(document_text(root, JSON_INDENT(1) | JSON_REAL_PRECISION(12)), "", true);
    if (document)
        fprintf(stream, "%s\n", document);
    free(document);
    return 0;
}
