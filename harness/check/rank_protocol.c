/* check/rank_protocol.c: compares and joins the answers of several processes
 * (check/rank_protocol.h). */
#include "check/rank_protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank_answers_failed(json_t *const answers[], int n)
{
    int found = -1;

    for (int p = n - 1; p >= 0; --p) {
        const json_t *error = json_object_get(answers[p], "error");
        const char *text = json_string_value(json_object_get(error, "text"));

        if (text && (found < 0 || !strstr(text, " has given up")))
            found = p;
    }
    return found;
}

int rank_answer_digest(const json_t *answer, char hex[DIGEST_HEX])
{
    /* Only one process reports values; devices and cores may differ between the processes. */
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
