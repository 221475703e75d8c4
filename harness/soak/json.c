/* soak/json.c: the same for programs: lockstep/soak/1.0, one object. */
#include "soak/soak.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "record/document.h"

static json_t *bits(uint32_t value)
{
    char text[16];

    snprintf(text, sizeof text, "0x%08" PRIx32, value);
    return json_string(text);
}

static json_t *device_of(const struct soak *soak, int device)
{
    return device < 0 ? json_null() : value_text(soak_device(soak, device));
}

static json_t *finding_json(const struct soak *soak, const struct soak_finding *f)
{
    const char *param = f->param >= 0 ? soak->ranks.name[f->param] : "";
    json_t *object = json_pack(
        "{s:I, s:o, s:i, s:s, s:o, s:s, s:o}", "iteration", (json_int_t)f->iteration, "device",
        device_of(soak, f->device), "device_index", f->device, "what", soak_what_words[f->what],
        "tensor", value_text(param), "part", soak_part_words[f->part], "text", value_text(f->text));

    if (f->what == SOAK_DEAD || f->what == SOAK_HUNG)
        return object;
    json_object_set_new(object, "index", json_integer((json_int_t)f->index));
    json_object_set_new(object, "actual", bits(f->got));
    json_object_set_new(object, "expected", bits(f->want));
    json_object_set_new(object, "xor", bits(f->got ^ f->want));
    json_object_set_new(object, "differ", json_integer((json_int_t)f->differ));
    json_object_set_new(object, "of", json_integer((json_int_t)f->of));
    return object;
}

static json_t *device_json(const struct soak *soak, int r)
{
    const struct soak_rate *rate = &soak->rate[r];
    const double flops = workload_flops(&soak->options->workload, soak->options->rows);

    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:I}", "device",
                     device_of(soak, r), "findings", (json_int_t)soak->found.of[r], "burst_gflops",
                     value_real(flops / rate->burst_ns), "sustained_gflops",
                     value_real(flops / rate->sustained_ns), "beside", value_real(rate->ratio),
                     "lo", value_real(rate->lo), "hi", value_real(rate->hi), "speed",
                     soak_speed_words[rate->speed], "drop",
                     rate->drop > 0 ? value_real(rate->drop) : json_null(), "since",
                     (json_int_t)rate->since);
}

/* Of the first finding. */
static json_t *replay_json(const struct soak *soak)
{
    char replay[SOAK_REPLAY];

    if (soak->found.n == 0)
        return json_null();
    soak_replay(soak->options, soak->found.finding[0].iteration, replay);
    return value_text(replay);
}

int soak_json(const struct soak *soak)
{
    json_t *devices = json_array(), *findings = json_array(), *root;
    char blas[160];

    dp_group_blas(soak->ranks.group, blas, sizeof blas);
    for (int r = 0; r < soak->ranks.n; ++r)
        json_array_append_new(devices, device_json(soak, r));
    for (size_t i = 0; i < soak->found.kept; ++i)
        json_array_append_new(findings, finding_json(soak, &soak->found.finding[i]));
    root = json_pack(
        "{s:s, s:o, s:s, s:I, s:s, s:o, s:I, s:I, s:o, s:o, s:b, s:I, s:I, s:o, s:o, s:o}",
        "schema", "lockstep/soak/1.0", "workload", value_text(soak->options->workload.name), "mode",
        soak_mode_words[soak->options->mode], "rows", (json_int_t)soak->options->rows, "backend",
        dp_group_backend(soak->ranks.group), "blas", value_text(blas), "first",
        (json_int_t)soak->options->first, "iterations", (json_int_t)soak->iterations, "seconds",
        value_real(soak->seconds), "checking_frac", value_real(soak->check_seconds / soak->seconds),
        "interrupted", soak->interrupted, "compared", (json_int_t)soak->found.compared, "found",
        (json_int_t)soak->found.n, "replay", replay_json(soak), "devices", devices, "findings",
        findings);
    if (soak->ranks.overlap) {
        json_object_set_new(root, "buckets", json_integer((json_int_t)soak->ranks.buckets));
        json_object_set_new(root, "buckets_beside", json_integer((json_int_t)soak->ranks.beside));
    }
    return document_print(stdout, root);
}
