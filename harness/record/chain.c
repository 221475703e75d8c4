/* record/chain.c: the chain of a file. Each line has the SHA-256 of the line before it, and the
 * last line also its own, so that a line that was edited, removed, added or moved is detected. This
 * is no signature: anyone can compute the chain again. A file without a chain is unsealed, and is
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "record/json.h"

static const char chain_key[] = ",\"chain\":\"", seal_key[] = ",\"seal\":\"", tail[] = "\"}";
static const char algorithm[] = "sha256"; /* the chain of a first line */

/* Returns the line with one more member, and frees line. NULL: line is no object, or no memory: a
 * training goes on without the line. */
static char *add_member(char *line, const char *key, const char *value)
{
    const size_t length = line ? strlen(line) : 0;
    const size_t bytes = length + strlen(key) + strlen(value) + sizeof tail;
    char *longer = length > 2 && line[length - 1] == '}' ? malloc(bytes) : NULL;

    if (longer)
        snprintf(longer, bytes, "%.*s%s%s%s", (int)(length - 1), line, key, value, tail);
    free(line);
    return longer;
}

char *record_chain_add(char *line, const char *before, bool closes)
{
    char own[DIGEST_HEX];

    line = add_member(line, chain_key, before[0] != '\0' ? before : algorithm);
    if (!line || !closes)
        return line;
    if (digest_sha256(line, strlen(line) - 1, own) == 0)
        return add_member(line, seal_key, own);
    free(line);
    return NULL;
}

struct record_link record_link_of(const json_t *root)
{
    const json_t *chain = json_object_get(root, "chain");

    return (struct record_link){.here = chain != NULL,
                                .chain = json_string_value(chain),
                                .seal = json_string_value(json_object_get(root, "seal"))};
}

int record_chain_check(const struct record_link *link, const char *line, size_t bytes, bool closes,
                       struct record_chain *chain, struct text_error *err)
{
    const char *text = link->chain;

    if (chain->lines++ == 0) {
        if (link->here && (!text || strcmp(text, algorithm) != 0))
            return record_fail(err, "\"chain\" of the first line is not \"%s\"", algorithm);
        chain->sealed = link->here;
    } else if (!chain->sealed && link->here) {
        return record_fail(err, "there is a \"chain\" here, but none in line 1");
    } else if (chain->sealed && !text) {
        return record_fail(err, "\"chain\" is missing, but line 1 has one: the line was added");
    } else if (chain->sealed && strcmp(text, chain->last) != 0) {
        return record_fail(err,
                           "\"chain\" is %.12s.., but line %zu has the SHA-256 %.12s..: a line was "
                           "changed, removed, added or moved",
                           text, chain->lines - 1, chain->last);
    }
    if (!chain->sealed)
        return 0;
    if (closes) {
        /* The seal is the SHA-256 of the bytes before it: up to the comma of the member, if that is
         * the last one of its line. */
        const size_t length = strlen(seal_key) + (DIGEST_HEX - 1) + strlen(tail);
        const char *begin = bytes > length ? line + bytes - length : NULL;
        char own[DIGEST_HEX];

        if (!link->seal || !begin || memcmp(begin, seal_key, strlen(seal_key)) != 0)
            return record_fail(err,
                               "\"seal\" is missing, not 64 hex digits, or not the last member");
        if (digest_sha256(line, (size_t)(begin - line), own))
            return record_fail(err, "cannot compute the SHA-256 of the line");
        if (strcmp(own, link->seal) != 0)
            return record_fail(
                err, "\"seal\" is %.12s.., but the line has the SHA-256 %.12s..: it was changed",
                link->seal, own);
    }
    if (link->digest && link->digest[0] != '\0') {
        memcpy(chain->last, link->digest, sizeof chain->last);
        return 0;
    }
    return digest_sha256(line, bytes, chain->last)
               ? record_fail(err, "cannot compute the SHA-256 of the line")
               : 0;
}
