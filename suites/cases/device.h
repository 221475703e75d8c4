/* device.h: the tables of area DEV. */
#ifndef CASES_DEVICE_H
#define CASES_DEVICE_H

#include "check.h"

extern const struct check_table device_table_table;
extern const struct check_table device_list_table;

#endif
