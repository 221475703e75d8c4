/* onednn.c: loads the module that is linked with oneDNN, when a group wants it: no other program
 * needs oneDNN or waits for its libraries. */
#include "onednn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "../beside.h"
#include "products.h"

#define MODULE "lockstep-onednn.so"

const bool dp_onednn_is_built = true;

/* Its symbols are nobody else's: a program may have another oneDNN. */
static int load(const struct dp_products **products, struct dp_error *err)
{
    char why[200] = "";
    void *handle = dp_beside_load(MODULE, DP_ONEDNN_FOLDER, RTLD_LOCAL, why, sizeof why);
    void *const symbol = handle ? dlsym(handle, DP_PRODUCTS_SYMBOL) : NULL;
    if (!handle)
        return dp_fail(err, DP_EINVAL, "oneDNN cannot be loaded: %s", why);
    if (!symbol)
        return dp_fail(err, DP_EINVAL,
                       "oneDNN cannot be loaded: no " DP_PRODUCTS_SYMBOL " in " MODULE);
    *products = symbol;
    return (*products)->version == DP_PRODUCTS_VERSION
               ? 0
               : dp_fail(err, DP_EINVAL,
                         "oneDNN cannot be loaded: " MODULE " has version %u, not %u",
                         (*products)->version, DP_PRODUCTS_VERSION);
}

static int slot_open(struct dp_slot *slot, struct dp_error *err)
{
    slot->products = slot->group->products->open();
    return slot->products ? 0
                          : dp_fail(err, DP_ENOMEM, "%s: oneDNN cannot be set up", slot->info.name);
}

int dp_onednn_open(struct dp_group *group, struct dp_error *err)
{
    int status = load(&group->products, err);
    if (status)
        return status;
    status = slot_open(&group->host, err);
    for (int i = 0; status == 0 && i < group->size; ++i)
        status = slot_open(group->slot[i], err);
    return status;
}

static void slot_close(struct dp_slot *slot)
{
    if (slot->products)
        slot->group->products->close(slot->products);
    slot->products = NULL;
}

void dp_onednn_close(struct dp_group *group)
{
    for (int i = 0; i < group->size; ++i)
        slot_close(group->slot[i]);
    slot_close(&group->host);
}
