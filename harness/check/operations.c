/* check/operations.c: see check/operations.h. */
#include "check/operations.h"

#include <stdio.h>
#include <string.h>

#include "check/join.h"
#include "dp.h"

enum { WORDS = 300, TEXT = 2 * WORDS };

const char *operations_text(const json_t *request, const char *name)
{
    const char *text = json_string_value(json_object_get(request, name));

    return text ? text : "";
}

/* "process 1 of 2 (host H, process 4711)WORDS" */
static json_t *error_of(const struct dp_mpi *mpi, int process, int status, const char *words)
{
    char text[TEXT];

    snprintf(text, sizeof text, "process %d of %d (host %s, process %ld)%s", process,
             dp_mpi_size(mpi), dp_mpi_host(mpi, process), dp_mpi_pid(mpi, process), words);
    return json_pack("{s:{s:i, s:s}}", "error", "status", status, "text", text);
}

json_t *operations_answer(const struct dp_mpi *mpi, const struct operation operation[], size_t n,
                          void *self, const json_t *request)
{
    const char *name = operations_text(request, "op");
    struct dp_error err = {0};
    json_t *ok = NULL;
    char words[WORDS];
    int status = DP_EINVAL;

    for (size_t i = 0; i < n; ++i)
        if (strcmp(name, operation[i].name) == 0)
            status = operation[i].run(self, request, &ok, &err);
    if (status == 0)
        return ok ? json_pack("{s:o}", "ok", ok) : NULL;
    snprintf(words, sizeof words, ": %s", err.text);
    return error_of(mpi, dp_mpi_rank(mpi), status, words);
}

json_t *operations_join(const struct dp_mpi *mpi, const struct alike alike[], size_t n_alike,
                        json_t *const answers[], int n)
{
    json_t *first = json_object_get(answers[0], "ok");
    const int failed = join_failed(answers, n);
    char words[WORDS];

    if (failed >= 0)
        return json_incref(answers[failed]);
    for (int p = 1; p < n; ++p) {
        json_t *ok = json_object_get(answers[p], "ok");

        for (size_t i = 0; i < n_alike; ++i) {
            json_t *a = json_object_get(first, alike[i].name);
            json_t *b = json_object_get(ok, alike[i].name);

            if (a == b || json_equal(a, b))
                continue;
            snprintf(words, sizeof words, " has %s than process 0", alike[i].words);
            return error_of(mpi, p, DP_EFAULT, words);
        }
        if (json_is_true(json_object_get(ok, "oversubscribed")) &&
            json_object_set_new(first, "oversubscribed", json_true()))
            return NULL;
    }
    return json_incref(answers[0]);
}
