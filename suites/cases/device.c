/* device.c: area DEV: where a module, its replicas and its inputs are. */
#include "device.h"
#include "check.h"

static const struct check_table *const tables[] = {
    &device_table_table,
    &device_list_table,
};

static const struct check_excuse excuses[] = {
    {"DEV-06", false, "a device is a number here; there are no device objects"},
    {"DEV-08", false, "the interface has no warnings and does not tell the size of a device"},
};

const struct check_area area_device = {"DEV",   9,
                                       tables,  sizeof tables / sizeof tables[0],
                                       excuses, sizeof excuses / sizeof excuses[0]};
