/* onednn.c: loads the plug-in that is linked with oneDNN, if a group wants it. Other programs do
 * not need oneDNN, and do not wait for its libraries. */
#include "products.h"

#include <dlfcn.h>

#include "../backend.h"
#include "../plugin.h"

#define MODULE "lockstep-onednn.so"

const bool dp_onednn_is_built = true;

/* DP_ENODEV if the plug-in or the library does not exist here. Its symbols stay private, because a
 * program may use another oneDNN. */
static int onednn_load(const struct dp_products **products, struct dp_error *err)
{
    char why[200] = "";
    bool missing = false;
    void *handle = dp_plugin_open(MODULE, DP_ONEDNN_FOLDER, RTLD_LOCAL, &missing, why, sizeof why);
    void *const symbol = handle ? dlsym(handle, DP_PRODUCTS_SYMBOL) : NULL;
    if (!handle)
        return dp_fail(err, missing ? DP_ENODEV : DP_EINVAL, "oneDNN cannot be loaded: %s", why);
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
    const struct dp_group *group = slot->group;
    slot->products = group->products->open(group->wide_blas ? group->size : 1);
    return slot->products ? 0
                          : dp_fail(err, DP_ENOMEM, "%s: oneDNN cannot be set up", slot->info.name);
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

static int slots_open(struct dp_group *group, struct dp_error *err)
{
    int status = slot_open(&group->host, err);
    for (int i = 0; status == 0 && i < group->size; ++i)
        status = slot_open(group->slot[i], err);
    if (status)
        return status;
    char *name = group->products_name;
    switch (group->products->describe(group->host.products, name, sizeof group->products_name)) {
    case DP_PRODUCT_MADE:
        return 0;
    case DP_PRODUCT_ELSEWHERE:
        return dp_fail(err, DP_ENODEV,
                       "%s has no kernels for this CPU that are faster than CBLAS's", name);
    default:
        return dp_fail(err, DP_EINVAL, "%s cannot be set up", name);
    }
}

/* If it exists and fails, that is an error: a group never gets other products because memory was
 * short. */
int dp_onednn_open(struct dp_group *group, struct dp_error *err)
{
    const bool only = group->backend->onednn == DP_ONEDNN_ONLY;
    struct dp_error why = {0};
    int status = onednn_load(&group->products, &why);
    if (status == 0)
        status = slots_open(group, &why);
    if (status == 0)
        return 0;
    dp_onednn_close(group);
    group->products = NULL;
    group->products_name[0] = '\0';
    return status == DP_ENODEV && !only ? 0
                                        : dp_fail(err, status == DP_ENODEV ? DP_EINVAL : status,
                                                  "backend %s: %s", group->backend->name, why.text);
}
