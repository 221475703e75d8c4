/* check/operations.c: see check/operations.h. */
#include "check/operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

json_t *operations_join(json_t *const answers[], int n)
{
    json_t *first = json_object_get(answers[0], "ok");
    const int failed = join_failed(answers, n);

    if (failed >= 0)
        return json_incref(answers[failed]);
    for (int p = 1; p < n; ++p)
        if (json_is_true(json_object_get(json_object_get(answers[p], "ok"), "oversubscribed")) &&
            json_object_set_new(first, "oversubscribed", json_true()))
            return NULL;
    return json_incref(answers[0]);
}

int operations_digest(const json_t *answer, char hex[DIGEST_HEX])
{
    /* One says the values; what devices and cores are there may be another thing on each. */
    static const char *const own[] = {"values", "blas", "oversubscribed", "compared"};
    json_t *ok = json_copy(json_object_get(answer, "ok"));
    char *text = NULL;
    int status = -1;

    snprintf(hex, DIGEST_HEX, "-");
    if (!json_object_get(answer, "ok"))
        return 0;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i)
        json_object_del(ok, own[i]);
    if (ok && (text = json_dumps(ok, JSON_COMPACT | JSON_SORT_KEYS)))
        status = digest_sha256(text, strlen(text), hex);
    free(text);
    json_decref(ok);
    return status;
}
