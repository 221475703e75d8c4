/* differ.c: record files that differ in one field, for the tests of what `lockstep report` pools.
 *
 *   differ list ROLE...              every field of these roles, a line each: OBJECT.FIELD
 *   differ base IN OUT               the cells of IN on two devices, of a known class of machine
 *   differ devices=LIST IN OUT       the same on a list of GPUs, "cuda:0,1"
 *   differ OBJECT.FIELD IN OUT       IN with another value there, as another run
 *   differ fields                    every field of every object: name, kind, least, most, unit
 *
 * The fields come from the tables: one that is new is tested without a word here. What is written
 * is of minor 0, which has no plan, so that readers do not refuse what report has to tell apart. */
#include "../role_name.h"
#include "record/json.h"
#include "record/record.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    const struct record_field *fields;
} objects[] = {{"run", record_run_fields},         {"slot", record_slot_fields},
               {"key", record_key_fields},         {"cell", record_cell_fields},
               {"end", record_end_fields},         {"numa", record_numa_fields},
               {"gpu", record_gpu_fields},         {"reading", record_reading_fields},
               {"nvlink", record_nvlink_fields},   {"nic", record_nic_fields},
               {"watched", record_watched_fields}, {"during", record_during_fields}};
enum { OBJECTS = 4, ALL_OBJECTS = sizeof objects / sizeof objects[0] };

static int list_fields(void)
{
    for (int i = 0; i < ALL_OBJECTS; ++i)
        for (const struct record_field *f = objects[i].fields; f->name; ++f)
            printf("%s.%s\t%d\t%lld\t%lld\t%s\n", objects[i].name, f->name, (int)f->kind, f->min,
                   f->max, f->unit);
    return 0;
}

static int list(int n, char **roles)
{
    for (int i = 0; i < OBJECTS; ++i)
        for (const struct record_field *f = objects[i].fields; f->name; ++f)
            for (int r = 0; r < n && f->kind != RECORD_NESTED; ++r)
                if (strcmp(roles[r], role_name(f->role)) == 0)
                    printf("%s.%s\n", objects[i].name, f->name);
    return 0;
}

/* With one more character, or another one, or another of those that its unit lists. */
static void change_text(const struct record_field *field, char *text, const void *object)
{
    const size_t length = strlen(text);
    struct text_error why;

    snprintf(text + length, field->bytes - length, "2");
    if (length + 1 < field->bytes && record_check_value(field, object, &why) == 0)
        return;
    text[length] = '\0';
    for (size_t i = length; i-- > 0;) {
        const char was = text[i];

        text[i] = was == '1' ? '2' : '1';
        if (record_check_value(field, object, &why) == 0)
            return;
        text[i] = was;
    }
    for (const char *at = strchr(field->unit, '`'); at; at = strchr(at + 1, '`'))
        if (strncmp(at + 1, text, length) != 0 && at[1] != ' ' && at[1] != '\0') {
            snprintf(text, field->bytes, "%.*s", (int)strcspn(at + 1, "`"), at + 1);
            return;
        }
    snprintf(text, field->bytes, "%s", length == 0 ? "1" : "");
    for (size_t i = 0; length == 0 && i < field->bytes - 1; ++i) {
        text[i] = '1';
        text[i + 1] = '\0';
        if (record_check_value(field, object, &why) == 0)
            return;
    }
}

/* Another value of the same type; a text stays one that can be read. */
static void change(const struct record_field *field, void *object)
{
    void *member = (char *)object + field->offset;
    char *text = member;

    switch (field->kind) {
    case RECORD_TEXT:
        change_text(field, text, object);
        break;
    case RECORD_OPTIONS:
        snprintf(text + strlen(text), field->bytes - strlen(text), " --graphs off");
        break;
    case RECORD_HASH:
        text[0] = text[0] == '1' ? '2' : '1';
        break;
    case RECORD_BOOL:
        *(bool *)member = !*(bool *)member;
        break;
    case RECORD_INT:
        ++*(int *)member;
        break;
    case RECORD_LONG:
        ++*(long *)member;
        break;
    case RECORD_COUNT:
        ++*(size_t *)member;
        break;
    case RECORD_U64:
    case RECORD_BIG:
        ++*(uint64_t *)member;
        break;
    case RECORD_REAL:
        *(double *)member = isnan(*(double *)member) ? 1 : *(double *)member + 1;
        break;
    case RECORD_SERIES:
    case RECORD_NESTED:
        break;
    }
}

/* False: there is no such field. */
static bool change_named(const char *what, struct record_file *file)
{
    const char *dot = strchr(what, '.');
    const struct record_field *field = NULL;
    int object = 0;

    for (; dot && object < OBJECTS && !field; ++object)
        if (strncmp(what, objects[object].name, (size_t)(dot - what)) == 0)
            field = record_find(objects[object].fields, dot + 1);
    if (!field)
        return false;
    snprintf(file->run.run_id, sizeof file->run.run_id, "feedface00000009");
    if (objects[object - 1].fields == record_run_fields)
        change(field, &file->run);
    for (int i = 0; objects[object - 1].fields == record_slot_fields && i < file->run.n_slots; ++i)
        change(field, &file->run.slot[i]);
    for (size_t c = 0; c < file->n_cells; ++c) {
        if (objects[object - 1].fields == record_key_fields)
            change(field, &file->cell[c].key);
        if (objects[object - 1].fields == record_cell_fields)
            change(field, &file->cell[c]);
    }
    return true;
}

static void make_base(struct record_file *file)
{
    size_t kept = 0;

    snprintf(file->run.machine_class, sizeof file->run.machine_class, "%064d", 12);
    for (size_t c = 0; c < file->n_cells; ++c) {
        struct record_cell *cell = &file->cell[c];

        if (cell->key.n_devices == 2 && strcmp(cell->key.workload, "tutorial") == 0)
            file->cell[kept++] = *cell;
        else
            record_cell_free(cell);
    }
    file->n_cells = kept;
    file->run.planned = kept;
}

/* "cuda:0,1": GPUs by one digit each. */
static void set_devices(const char *devices, struct record_file *file)
{
    struct record_run *run = &file->run;

    run->n_slots = 2;
    snprintf(run->devices, sizeof run->devices, "%s", devices);
    for (int i = 0; i < run->n_slots; ++i) {
        const char gpu = devices[strlen("cuda:") + 2 * (size_t)i];

        run->slot[i] = (struct record_slot){.kind = "cuda", .model = "Example GPU"};
        snprintf(run->slot[i].name, sizeof run->slot[i].name, "cuda:%c", gpu);
        snprintf(run->slot[i].bus, sizeof run->slot[i].bus, "0000:%c0:00.0", gpu);
    }
    for (size_t c = 0; c < file->n_cells; ++c) {
        struct record_cell *cell = &file->cell[c];

        snprintf(cell->key.devices, sizeof cell->key.devices, "%s", devices);
        cell->oversubscribed = strcmp(run->slot[0].name, run->slot[1].name) == 0;
    }
}

/* The text with its number of launches cut out, which is what makes a file one with a plan. */
static char *without_plan(char *text)
{
    static const char name[] = "\"launches\":";
    char *first = text ? strstr(text, name) : NULL;
    const char *end = first ? strchr(first, ',') : NULL;

    if (end)
        memmove(first, end + 1, strlen(end + 1) + 1);
    return text;
}

static int differ_append(int fd, char *text)
{
    struct text_error err = {{0}};
    const int status = text ? record_append(fd, text, &err) : -1;

    if (status != 0)
        fprintf(stderr, "differ: %s\n", err.text);
    free(text);
    return status;
}

static int write_file(const char *path, struct record_file *file)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int status = fd < 0 ? -1 : differ_append(fd, without_plan(record_run_text(&file->run)));

    for (size_t c = 0; c < file->n_cells && status == 0; ++c) {
        struct record_cell *cell = &file->cell[c];

        memcpy(cell->run_id, file->run.run_id, sizeof cell->run_id);
        /* By the file's name: it is no copy of the launch. */
        cell->start_epoch_ns += UINT64_C(1000000000) * (unsigned char)path[0];
        record_cell_id(&cell->key, cell->cell_id);
        status = differ_append(fd, record_cell_text(cell));
    }
    const struct record_end end = {
        .planned = file->run.planned, .ok = file->n_cells, .seconds = (double)NAN};
    if (status == 0)
        status = differ_append(fd, record_end_text(file->run.run_id, &end));
    return fd >= 0 && close(fd) == 0 && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const char devices[] = "devices=";
    struct text_error err = {{0}};
    struct record_file file;
    int status = 0;

    if (argc == 2 && strcmp(argv[1], "fields") == 0)
        return list_fields();
    if (argc > 2 && strcmp(argv[1], "list") == 0)
        return list(argc - 2, argv + 2);
    if (argc != 4 || record_read(argv[2], false, &file, &err) != 0) {
        fprintf(stderr, "differ: %s\n", argc == 4 ? err.text : "list ROLE... | CHANGE IN OUT");
        return 2;
    }
    if (strcmp(argv[1], "base") == 0) {
        make_base(&file);
    } else if (strncmp(argv[1], devices, strlen(devices)) == 0) {
        set_devices(argv[1] + strlen(devices), &file);
    } else if (!change_named(argv[1], &file)) {
        fprintf(stderr, "differ: there is no field %s\n", argv[1]);
        status = 2;
    }
    if (status == 0)
        status = write_file(argv[3], &file);
    record_file_free(&file);
    return status;
}
