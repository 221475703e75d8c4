/* error.c: converts errors of core to errors of impl.h. */
#include "reference.h"

#include <string.h>

struct pair {
    int dp, impl;
};

static const struct pair pairs[] = {
    {DP_EINVAL, IMPL_EINVAL}, {DP_ESHAPE, IMPL_ESHAPE}, {DP_EDEVICE, IMPL_EDEVICE},
    {DP_EFAULT, IMPL_EFAULT}, {DP_ENODEV, IMPL_ENODEV}, {DP_ENOTSUP, IMPL_ENOTSUP},
    {DP_ENOMEM, IMPL_EFAULT},
};

enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static int impl_status(int dp_status)
{
    for (int i = 0; i < PAIRS; ++i)
        if (pairs[i].dp == dp_status)
            return pairs[i].impl;
    return dp_status <= OWN_STATUS(0) ? OWN_STATUS(0) - dp_status : IMPL_EBROKEN;
}

int dp_status_of(int status)
{
    for (int i = 0; i < PAIRS; ++i)
        if (pairs[i].impl == status)
            return pairs[i].dp;
    return OWN_STATUS(status);
}

static bool is_word(char character)
{
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z') || character == '_' || character == '#';
}

/* Returns the slot whose name begins at `at` as a whole word; IMPL_NOWHERE: none. */
static int named_at(struct dp_group *group, const char *text, size_t at)
{
    if (at > 0 && is_word(text[at - 1]))
        return IMPL_NOWHERE;
    for (int device = IMPL_HOST; device < dp_group_size(group); ++device) {
        const char *name =
            dp_slot_name(device == IMPL_HOST ? dp_group_host(group) : dp_group_slot(group, device));
        const size_t length = strlen(name);

        if (strncmp(text + at, name, length) == 0 && !is_word(text[at + length]))
            return device;
    }
    return IMPL_NOWHERE;
}

/* Errors of core have no fields for devices, so the devices are the slots that the text names, in
 * order. The text after the number of a failing replica is that of its layer; it is only read if
 * this kind of error names devices. */
static void find_devices(struct dp_group *group, const struct dp_error *from, struct impl_error *to)
{
    for (size_t at = 0; from->text[at] != '\0' && to->device_also == IMPL_NOWHERE; ++at) {
        const int device = named_at(group, from->text, at);

        if (device == IMPL_NOWHERE || device == to->device)
            continue;
        if (to->device != IMPL_NOWHERE) {
            to->device_also = device;
            return;
        }
        to->device = device;
        if (from->has_replica && from->status != DP_EDEVICE)
            return;
    }
}

int error_of(struct dp_group *group, int status, const struct dp_error *from, struct impl_error *to)
{
    if (status == 0)
        return IMPL_OK;
    if (from->status == 0) {
        impl_fail(to, IMPL_EBROKEN, "an error without a text: %s", dp_status_name(status));
        return IMPL_EBROKEN;
    }
    impl_fail(to, impl_status(from->status), "%s", from->text);
    if (from->has_replica)
        to->replica = from->replica;
    if (group)
        find_devices(group, from, to);
    return to->status;
}
