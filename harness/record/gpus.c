/* record/gpus.c: judges what the GPUs of a cell reported about its measured steps. Some reports
 * mean that the times cannot be trusted; others are only mentioned. Throttle bits are judged one by
 * one: a GPU at its power limit is a healthy one. */
#include <math.h>
#include <stdio.h>

#include "record/record.h"

/* A share of the time in thermal slowdown up to this one is ignored: on healthy GPUs these counters
 * are seen to move by one tick. */
static const double LEAST_SLOWED = 0.01;

static const struct bit {
    unsigned bit;
    const char *words;
    bool invalid; /* times cannot be trusted */
} bits[] = {{RECORD_THROTTLE_IDLE, "idle", false},
            {RECORD_THROTTLE_SET, "clocks that were set", false},
            {RECORD_THROTTLE_POWER_CAP, "power cap", false},
            {RECORD_THROTTLE_HARDWARE, "hardware slowdown", true},
            {RECORD_THROTTLE_SYNC_BOOST, "sync boost", false},
            {RECORD_THROTTLE_SOFTWARE_HEAT, "software thermal slowdown", true},
            {RECORD_THROTTLE_HARDWARE_HEAT, "hardware thermal slowdown", true},
            {RECORD_THROTTLE_POWER_BRAKE, "hardware power brake", true},
            {RECORD_THROTTLE_DISPLAY, "display clocks", false}};
enum { BITS = sizeof bits / sizeof bits[0] };

/* The bits as an integer; 0 if they are not known. */
static unsigned long long throttle_bits(double throttle)
{
    return throttle >= 0 && throttle <= (double)RECORD_EXACT_MAX ? (unsigned long long)throttle : 0;
}

void record_throttle_words(double throttle, char text[RECORD_NODE_TEXT])
{
    unsigned long long rest = throttle_bits(throttle);
    char other[32];

    snprintf(text, RECORD_NODE_TEXT, "%s", isnan(throttle) ? "unknown" : "");
    for (int i = 0; i < BITS; ++i) {
        if (rest & bits[i].bit)
            text_list(text, RECORD_NODE_TEXT, ", ", bits[i].words);
        rest &= ~(unsigned long long)bits[i].bit;
    }
    snprintf(other, sizeof other, "0x%llx", rest);
    if (rest != 0)
        text_list(text, RECORD_NODE_TEXT, ", ", other);
    if (text[0] == '\0')
        text_list(text, RECORD_NODE_TEXT, ", ", "none");
}

/* ---- readings of one GPU ------------------------------------------------------------------- */

/* Counts the readings with that throttle reason, the first and the last reading included; *known is
 * how many readings are known. */
static size_t count_readings(const struct record_watched *watched, unsigned bit, size_t *known)
{
    const struct record_series *during = &watched->during.throttle;
    const double ends[] = {watched->before.throttle, watched->after.throttle};
    size_t n = 0;

    *known = 0;
    for (size_t i = 0; i < during->n + 2; ++i) {
        const double throttle = i < during->n ? during->value[i] : ends[i - during->n];

        *known += isnan(throttle) ? 0 : 1;
        n += (throttle_bits(throttle) & bit) != 0 ? 1 : 0;
    }
    return n;
}

/* The increase of a counter; 0 if it is not known. */
static double gained(double before, double after)
{
    return after > before ? after - before : 0;
}

static void add_heat(char why[RECORD_NODE_TEXT], const struct record_watched *watched)
{
    const struct record_series *during = &watched->during.temperature_c;
    double most = fmax(watched->before.temperature_c, watched->after.temperature_c);
    char words[48];

    for (size_t i = 0; i < during->n; ++i)
        most = fmax(most, during->value[i]);
    snprintf(words, sizeof words, "at most %.0f degrees C", most);
    if (isfinite(most))
        text_list(why, RECORD_NODE_TEXT, ", ", words);
}

/* ---- reports that make the times untrustworthy --------------------------------------------- */

static bool has_doubt(const struct record_watched *watched, double passed_ns,
                      char why[RECORD_NODE_TEXT])
{
    const double errors = gained(watched->before.ecc_uncorrected, watched->after.ecc_uncorrected);
    const double slowed =
        gained(watched->before.slowed_thermal_ns, watched->after.slowed_thermal_ns);

    for (int i = 0; i < BITS; ++i) {
        size_t known;
        const size_t n = bits[i].invalid ? count_readings(watched, bits[i].bit, &known) : 0;

        if (n == 0)
            continue;
        snprintf(why, RECORD_NODE_TEXT, "GPU %s: %s in %zu of %zu readings", watched->bus,
                 bits[i].words, n, known);
        add_heat(why, watched);
        return true;
    }
    if (slowed > LEAST_SLOWED * passed_ns) { /* the counter covers the time between readings, too */
        snprintf(why, RECORD_NODE_TEXT, "GPU %s: thermal slowdown for %.3g s", watched->bus,
                 slowed / 1e9);
        add_heat(why, watched);
        return true;
    }
    snprintf(why, RECORD_NODE_TEXT, "GPU %s: %.0f uncorrected memory error%s while it was measured",
             watched->bus, errors, errors == 1 ? "" : "s");
    return errors > 0;
}

bool record_gpu_doubt(const struct record_cell *cell, char why[RECORD_NODE_TEXT])
{
    double passed_ns = 0; /* from the first measured step to the last */
    bool found = false;

    for (size_t i = cell->warmup_steps; cell->n_gpus > 0 && i < cell->n_samples; ++i)
        passed_ns += (double)record_sample_ns(cell, i);
    for (int i = 0; i < cell->n_gpus && !found; ++i)
        found = has_doubt(&cell->gpu[i], passed_ns, why);
    if (!found)
        why[0] = '\0';
    return found;
}

/* ---- reports that are only mentioned ------------------------------------------------------- */

static bool note_cap(const struct record_watched *watched, char note[RECORD_NODE_TEXT])
{
    size_t known;
    const size_t n = count_readings(watched, RECORD_THROTTLE_POWER_CAP, &known);

    snprintf(note, RECORD_NODE_TEXT, "GPU %s: at its power limit in %zu of %zu readings",
             watched->bus, n, known);
    return n > 0;
}

static bool note_corrected(const struct record_watched *watched, char note[RECORD_NODE_TEXT])
{
    const double errors = gained(watched->before.ecc_corrected, watched->after.ecc_corrected);

    snprintf(note, RECORD_NODE_TEXT, "GPU %s: %.0f corrected memory error%s while it was measured",
             watched->bus, errors, errors == 1 ? "" : "s");
    return errors > 0;
}

static bool note_links(const struct record_watched *watched, char note[RECORD_NODE_TEXT])
{
    const struct record_reading *before = &watched->before, *after = &watched->after;
    double errors = 0;
    int links = 0, down = 0;

    for (int i = 0; i < before->n_links && i < after->n_links; ++i) {
        const struct record_nvlink *a = &before->link[i], *b = &after->link[i];
        const double own = gained(a->crc_flit, b->crc_flit) + gained(a->crc_data, b->crc_data) +
                           gained(a->replays, b->replays) + gained(a->recoveries, b->recoveries);

        errors += own;
        links += own > 0;
    }
    for (int i = 0; i < after->n_links; ++i)
        down += after->link[i].active == 0;
    note[0] = '\0';
    if (errors > 0)
        snprintf(note, RECORD_NODE_TEXT,
                 "GPU %s: %.0f error%s on %d of %d NVLinks while it was "
                 "measured",
                 watched->bus, errors, errors == 1 ? "" : "s", links, after->n_links);
    else if (down > 0)
        snprintf(note, RECORD_NODE_TEXT, "GPU %s: %d of %d NVLinks down", watched->bus, down,
                 after->n_links);
    return note[0] != '\0';
}

static bool note_foreign(const struct record_watched *watched, char note[RECORD_NODE_TEXT])
{
    const double foreign =
        fmax(watched->before.foreign_processes, watched->after.foreign_processes);

    snprintf(note, RECORD_NODE_TEXT, "GPU %s: %.0f process%s of others computed on it",
             watched->bus, foreign, foreign == 1 ? "" : "es");
    return foreign > 0;
}

bool record_gpu_note(const struct record_cell *cell, enum record_gpu_note which,
                     char note[RECORD_NODE_TEXT])
{
    static bool (*const notes[RECORD_NOTES])(const struct record_watched *,
                                             char[]) = {[RECORD_NOTE_POWER_CAP] = note_cap,
                                                        [RECORD_NOTE_CORRECTED] = note_corrected,
                                                        [RECORD_NOTE_LINKS] = note_links,
                                                        [RECORD_NOTE_FOREIGN] = note_foreign};
    bool found = false;

    for (int i = 0; i < cell->n_gpus && !found; ++i)
        found = notes[which](&cell->gpu[i], note);
    return found;
}
