/* validate/host.h: what the records of a launch say of its host. NaN where they do not know it. */
#ifndef HARNESS_VALIDATE_HOST_H
#define HARNESS_VALIDATE_HOST_H

#include "report/report.h"
#include "validate/statistic.h"

double validate_memlock(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
double validate_shm(const struct report_point *point, const struct report_row *row, int device,
                    enum validate_statistic by, double steps[]);
double validate_balancing(const struct report_point *point, const struct report_row *row,
                          int device, enum validate_statistic by, double steps[]);
double validate_threads(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
/* 1: the governor is performance; 0: it is another. */
double validate_governor(const struct report_point *point, const struct report_row *row, int device,
                         enum validate_statistic by, double steps[]);
double validate_foreign(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[]);
double validate_stolen(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[]);

#endif
