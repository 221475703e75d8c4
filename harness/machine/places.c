/* machine/places.c: compares processes on several hosts, by the table of fields. */
#include "machine/node.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "text/text.h"

enum { PLACE_ROLES = RECORD_BUILD | RECORD_SYSTEM | RECORD_MACHINE, DIGEST_SHOWN = 12 };

const struct record_field *record_places_differ(const struct record_place place[], int n,
                                                const struct record_field *after)
{
    const struct record_field *field = after ? after + 1 : record_run_fields;

    for (; field->name; ++field)
        for (int p = 1; p < n; ++p)
            if (record_field_order(field, PLACE_ROLES, &place[0].run, &place[p].run) != 0)
                return field;
    return NULL;
}

void record_place_show(const struct record_field *field, const struct record_place *place,
                       char *text, size_t bytes)
{
    record_show(field, &place->run, text, bytes);
    if (strcmp(field->unit, "SHA-256") == 0 && strlen(text) > DIGEST_SHOWN)
        text[DIGEST_SHOWN] = '\0';
    if (text[0] == '\0')
        snprintf(text, bytes, "-");
}

bool record_places_libraries(const struct record_place place[], int n)
{
    for (int p = 1; p < n; ++p)
        if (strcmp(place[0].library, place[p].library) != 0)
            return true;
    return false;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

char *record_places_text(const char *launcher, const struct record_place place[], int n)
{
    json_t *processes = json_array(), *differences = json_array();
    const struct record_field *field = NULL;
    char text[1024];

    for (int p = 0; p < n; ++p) {
        const struct record_run *run = &place[p].run;
        json_t *facts = json_object();

        for (field = record_run_fields; field->name; ++field) {
            if ((field->role & PLACE_ROLES) == 0 || field->kind == RECORD_NESTED)
                continue;
            record_show(field, run, text, sizeof text);
            json_object_set_new(facts, field->name, json_string(text));
        }
        json_array_append_new(processes,
                              json_pack("{s:s, s:I, s:s, s:s, s:o}", "host", place[p].host, "pid",
                                        (json_int_t)place[p].pid, "cores",
                                        run->n_slots > 0 ? run->slot[0].cores : "", "mpi_library",
                                        place[p].library, "facts", facts));
    }
    if (record_places_libraries(place, n))
        json_array_append_new(differences, json_string("mpi_library"));
    field = NULL;
    while ((field = record_places_differ(place, n, field)))
        json_array_append_new(differences, json_string(field->name));
    return document_text(json_pack("{s:s, s:s, s:o, s:o}", "schema", "lockstep/places/1.0",
                                   "launcher", launcher, "differences", differences, "processes",
                                   processes),
                         JSON_INDENT(2));
}
