/* hold.c: holds launches back, to issue them together. */
#include "backend.h"

void dp_slots_hold(struct dp_slot *const slots[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (slots[i]->ops->hold)
            slots[i]->ops->hold(&slots[i]->compute, true);
    }
}

/* All slots are flushed, even if one fails. */
int dp_slots_flush(struct dp_slot *const slots[], int n, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; i < n; ++i) {
        const int flushed =
            slots[i]->ops->flush ? slots[i]->ops->flush(&slots[i]->compute, err) : 0;
        status = status ? status : flushed;
    }
    return status;
}

int dp_slots_issue(struct dp_slot *const slots[], int n, struct dp_error *err)
{
    const int status = dp_slots_flush(slots, n, err);
    for (int i = 0; i < n; ++i) {
        if (slots[i]->ops->hold)
            slots[i]->ops->hold(&slots[i]->compute, false);
    }
    return status;
}
