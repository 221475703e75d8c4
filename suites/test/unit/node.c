/* node.c: GPUs of records are written, read and refused, and their readings say something about a
 * cell's times. */
#include "record/record.h"
#include "record_example.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell on one GPU about which nothing is known. */
static struct record_cell watched_cell(void)
{
    struct record_cell cell = example_cell(0);

    example_gpu(&cell);
    return cell;
}

Test(node, series_are_what_was_written)
{
    struct record_cell cell = watched_cell();

    example_series(&cell.gpu->during);
    cell.gpu->before.ecc_corrected = 7;
    cell.gpu->after.n_links = 2;
    record_unknown(record_nvlink_fields, &cell.gpu->after.link[0]);
    record_unknown(record_nvlink_fields, &cell.gpu->after.link[1]);
    cell.gpu->after.link[1].active = 0;
    snprintf(cell.gpu->after.link[1].to, sizeof cell.gpu->after.link[1].to, "0000:05:00.0");
    cell.sampling_ns = 12;

    struct record_cell again = example_again(&cell);

    cr_assert(again.n_gpus == 1 && strcmp(again.gpu->bus, "0000:19:00.0") == 0);
    cr_assert(!record_differs(record_during_fields, RECORD_ALL_ROLES, &cell.gpu->during,
                              &again.gpu->during));
    cr_assert(!record_differs(record_reading_fields, RECORD_ALL_ROLES, &cell.gpu->before,
                              &again.gpu->before));
    cr_assert(again.gpu->after.n_links == 2 && again.gpu->after.link[1].active == 0);
    cr_assert(isnan(again.gpu->after.link[0].active) && isnan(again.gpu->before.power_w));
    cr_assert(strcmp(again.gpu->after.link[1].to, "0000:05:00.0") == 0);
    again.gpu->during.power_w.value[1] = 0; /* an unknown number is not 0 */
    const struct record_field *field = record_differs(record_during_fields, RECORD_ALL_ROLES,
                                                      &cell.gpu->during, &again.gpu->during);

    cr_assert(field && strcmp(field->name, "power_w") == 0);
    record_cell_free(&cell);
    record_cell_free(&again);
    cr_assert(!again.gpu && again.n_gpus == 0);
}

/* Values that cannot be a series, or a node, are refused, and the error names them. */
Test(node, refused)
{
    static const char *const edits[][3] = {
        {"\"throttle\":[0.0,null,4.0]", "\"throttle\":[0.0,null]", "throttle"},
        {"\"throttle\":[0.0,null,4.0]", "\"throttle\":[0.0,null,4.0,1.0]", "throttle"},
        {"\"throttle\":[0.0,null,4.0]", "\"throttle\":[0.0,null,\"4\"]", "throttle"},
        {"\"throttle\":[0.0,null,4.0]", "\"throttle\":4.0", "throttle"},
        {"\"throttle\":[0.0,null,4.0],", "", "throttle"},
        {"\"at_ns\":[250.0,500.0,750.0]", "\"at_ns\":[250.0,500.0,499.0]", "at_ns"},
        {"\"at_ns\":[250.0,500.0,750.0]", "\"at_ns\":[250.0,null,750.0]", "at_ns"},
        {"\"links\":[]", "\"links\":{}", "links"},
        {"\"links\":[]", "\"links\":[1]", ""},
        {"\"during\":", "\"durings\":", ""},
        {"\"gpus\":[", "\"gpus\":[1,", ""},
        {"\"bus\":\"0000:19:00.0\"", "\"bus\":\"0000:19:00.0 and more\"", ""}};
    struct record_cell cell = watched_cell();

    example_series(&cell.gpu->during);

    char *text = record_cell_text(&cell);

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; ++i)
        example_edit_refused(text, edits[i][0], edits[i][1], edits[i][2]);
    free(text);
    record_cell_free(&cell);
}

/* Bits are judged one by one, in each place where they can be. */
Test(node, bits)
{
    static const unsigned invalid = 0x8 | 0x20 | 0x40 | 0x80;
    char why[RECORD_NODE_TEXT];

    for (int bit = 0; bit < 16; ++bit)
        for (int place = 0; place < 3; ++place) {
            struct record_cell cell = watched_cell();
            const double mask = (double)(1U << bit | 1U);
            const double during[3] = {NAN, mask, 0};

            if (place == 0)
                cell.gpu->before.throttle = mask;
            if (place == 1)
                cell.gpu->during.throttle = example_numbers(3, during);
            if (place == 2)
                cell.gpu->after.throttle = mask;
            cr_assert(record_gpu_doubt(&cell, why) == ((invalid & 1U << bit) != 0), "bit %d", bit);
            cr_assert(record_gpu_note(&cell, RECORD_NOTE_POWER_CAP, why) == (bit == 2));
            record_cell_free(&cell);
        }
}

/* The counter sees slowdowns between readings; one tick of it does not count. */
Test(node, counters)
{
    struct record_cell cell = watched_cell();
    double steps = 0;
    char why[RECORD_NODE_TEXT];

    for (size_t i = cell.warmup_steps; i < cell.n_samples; ++i)
        steps += (double)cell.t_step_ns[i];
    cr_assert(!record_gpu_doubt(&cell, why) && why[0] == '\0');
    cell.gpu->after.slowed_thermal_ns = 1e9; /* the start of the count is not known */
    cr_assert(!record_gpu_doubt(&cell, why));
    cell.gpu->before.slowed_thermal_ns = 1e9 - 0.009 * steps;
    cr_assert(!record_gpu_doubt(&cell, why), "%s", why);
    cell.gpu->before.slowed_thermal_ns = 1e9 - 0.011 * steps;
    cr_assert(record_gpu_doubt(&cell, why) && strstr(why, "0000:19:00.0: thermal slowdown for"));
    cell.gpu->before.slowed_thermal_ns = 2e9; /* it went back */
    cr_assert(!record_gpu_doubt(&cell, why));
    cell.gpu->before.ecc_uncorrected = 3;
    cr_assert(!record_gpu_doubt(&cell, why));
    cell.gpu->after.ecc_uncorrected = 4;
    cr_assert(record_gpu_doubt(&cell, why) && strstr(why, "1 uncorrected memory error while"));
    record_cell_free(&cell);
}

Test(node, words)
{
    static const struct {
        double throttle;
        const char *words;
    } rows[] = {{NAN, "unknown"},
                {0, "none"},
                {1, "idle"},
                {0x24, "power cap, software thermal slowdown"},
                {0x4001, "idle, 0x4000"},
                {-1, "none"},
                {1e300, "none"}};
    char text[RECORD_NODE_TEXT];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        record_throttle_words(rows[i].throttle, text);
        cr_assert(strcmp(text, rows[i].words) == 0, "%s", text);
    }
}

/* Only runs that have both read their GPUs can differ in them. */
Test(node, gpus_of_runs)
{
    struct record_run *a = calloc(2, sizeof *a), *b = a + 1;
    int gpu = -1;

    cr_assert(a);
    a->node.n_gpus = 2;
    cr_assert(!record_gpus_differ(a, b, &gpu));
    b->node.n_gpus = 2;
    cr_assert(!record_gpus_differ(a, b, &gpu));
    b->node.gpu[1].power_limit_w = 500;

    const struct record_field *field = record_gpus_differ(a, b, &gpu);

    cr_assert(field && strcmp(field->name, "power_limit_w") == 0 && gpu == 1);
    b->node.n_gpus = 1;
    field = record_gpus_differ(a, b, &gpu);
    cr_assert(field && strcmp(field->name, "bus") == 0 && gpu == 1);
    b->node.n_gpus = 2;
    b->node.gpu[1] = a->node.gpu[1];
    snprintf(b->node.gpu[0].uuid_hash, sizeof b->node.gpu[0].uuid_hash, "another one");
    b->node.gpu[0].reading.temperature_c = 90;
    cr_assert(!record_gpus_differ(a, b, &gpu));
    free(a);
}
