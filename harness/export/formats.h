/* export/formats.h: internal to this room: how each format writes a set. */
#ifndef HARNESS_EXPORT_FORMATS_H
#define HARNESS_EXPORT_FORMATS_H

#include <stdio.h>

struct export_set; /* export/export.h */

/* 0, or -1: memory is short. */
int export_as_csv(FILE *to, const struct export_set *set);
int export_as_bmf(FILE *to, const struct export_set *set);
int export_as_github(FILE *to, const struct export_set *set);
int export_as_openmetrics(FILE *to, const struct export_set *set);
int export_as_annotations(FILE *to, const struct export_set *set);
int export_as_junit(FILE *to, const struct export_set *set);

#endif
