/* devices.c: lists of devices, as a group opens them, and as a sweep counts them. */
#include "fuzz.h"

#include "backend.h"
#include "command/device_list.h"

#include <stdlib.h>
#include <string.h>

static void try_group(const char *text)
{
    struct dp_device_list list;
    struct dp_error err = {0};
    const int found = dp_devices_parse(text, &list, &err);

    fuzz_must(found == 0 || found == err.status, "the status is not the error's");
    if (found != 0) {
        fuzz_must_show(err.text);
        return;
    }
    fuzz_must(list.n >= (strcmp(text, "host") == 0 ? 0 : 1) && list.n <= DP_MAX_SLOTS,
              "no devices, or too many");
    fuzz_must(list.delay_ns <= 1000000000, "a delay of more than a second");
    fuzz_must(list.delay_rate <= 1000000000000, "a rate of more than 1000000 MB/s");
    fuzz_must(list.fault < DP_FAULTS && list.fault_at <= 1000000000, "a fault that cannot be");
    fuzz_must(list.silent_fault.step == 0 ||
                  (list.silent_fault.silent_fault < DP_SILENT_FAULTS &&
                   list.silent_fault.device < list.n && list.silent_fault.to < list.n && !list.lag),
              "a fault of a device that cannot be");
}

/* The first n of a list of n are the same list. */
static void try_count(const char *text)
{
    const int n = device_list_count(text);
    char first[64];

    if (n < 0)
        return;
    if (n == 0) {
        fuzz_must(device_list_first(text, 1, first, sizeof first) != 0,
                  "a list without devices has a first one");
        return;
    }
    if (device_list_first(text, (size_t)n, first, sizeof first) == 0)
        fuzz_must(device_list_count(first) == n, "a list has another count when cut to its own");
    if (n > 1 && device_list_first(text, (size_t)n - 1, first, sizeof first) == 0)
        fuzz_must(device_list_count(first) == n - 1, "a list cannot be cut by one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);

    try_group(text);
    try_count(text);
    free(text);
    return 0;
}
