/* measure/marks.c: folds the results of a step where they are. */
#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

#include "numbers/equal.h"
#include "text/alloc.h"

void marks_open(struct marks *marks, struct session *session)
{
    *marks = (struct marks){.session = session};
    marks->read = cli_alloc(DP_FOLD_MARKS, sizeof *marks->read);
}

void marks_close(struct marks *marks)
{
    for (int i = 0; i < MARKS_PLACES; ++i)
        dp_tensor_free(&marks->at[i]);
    free(marks->read);
    *marks = (struct marks){.session = NULL};
}

/* ---- folds ----------------------------------------------------------------------------------- */

/* Folds a tensor; the memory for its digest is opened where the tensor is. */
static int fold_tensor(struct marks *to, const struct dp_tensor *tensor, struct dp_error *err)
{
    struct dp_slot_info info;
    struct dp_tensor *marks;
    int status = 0;

    dp_slot_describe(tensor->slot, &info);
    marks = &to->at[info.index + 1];
    if (!marks->slot) {
        memset(to->read, 0, DP_FOLD_MARKS * sizeof *to->read);
        status =
            dp_tensor_alloc(tensor->slot, DP_I32, 1, (const size_t[]){DP_FOLD_MARKS}, marks, err);
        if (status == 0)
            status = dp_tensor_write(marks, to->read, err);
    }
    return status ? status : dp_tensor_fold(marks, tensor, err);
}

int marks_fold(struct marks *marks, struct dp_error *err)
{
    const struct session *s = marks->session;
    struct dp_tensor value, grad;
    int status = 0;

    for (int r = 0; status == 0 && r < s->n_ranks; ++r) {
        if ((status = fold_tensor(marks, &s->out[r * DP_MAX_IO + 1], err)) ||
            (status = fold_tensor(marks, &s->out[r * DP_MAX_IO], err)))
            return status;
        for (int p = 0; status == 0 && p < s->n_params; ++p)
            if ((status = session_param(s, r, p, &value, &grad, err)) == 0 &&
                (status = fold_tensor(marks, &value, err)) == 0 && grad.slot)
                status = fold_tensor(marks, &grad, err);
    }
    return status;
}

/* ---- digests --------------------------------------------------------------------------------- */

int marks_clear(struct marks *marks, struct dp_error *err)
{
    int status = 0;

    memset(marks->read, 0, DP_FOLD_MARKS * sizeof *marks->read);
    for (int i = 0; status == 0 && i < MARKS_PLACES; ++i)
        if (marks->at[i].slot)
            status = dp_tensor_write(&marks->at[i], marks->read, err);
    return status;
}

int marks_digest(struct marks *marks, struct marks_digest *digest, struct dp_error *err)
{
    int status = 0;

    for (int i = 0; status == 0 && i < MARKS_PLACES; ++i) {
        digest->at[i] = 0;
        if (!marks->at[i].slot)
            continue;
        status = dp_tensor_read(marks->read, &marks->at[i], err);
        digest->at[i] = equal_digest(1, marks->read, DP_FOLD_MARKS * sizeof *marks->read);
    }
    return status;
}

const struct dp_slot *marks_differ(const struct marks *marks, const struct marks_digest *a,
                                   const struct marks_digest *b)
{
    for (int i = 0; i < MARKS_PLACES; ++i)
        if (a->at[i] != b->at[i])
            return marks->at[i].slot;
    return NULL;
}

/* Each place must have changed: a fold that did nothing would find nothing. */
int marks_of_step(struct marks *marks, struct marks_digest *digest, struct dp_error *err)
{
    uint64_t nothing;
    int status;

    if ((status = marks_clear(marks, err)) || (status = marks_fold(marks, err)) ||
        (status = marks_digest(marks, digest, err)))
        return status;
    memset(marks->read, 0, DP_FOLD_MARKS * sizeof *marks->read);
    nothing = equal_digest(1, marks->read, DP_FOLD_MARKS * sizeof *marks->read);
    for (int i = 0; i < MARKS_PLACES; ++i)
        if (digest->at[i] == nothing)
            return dp_fail(err, DP_EFAULT, "a step leaves no marks on %s",
                           dp_slot_name(marks->at[i].slot));
    return 0;
}
