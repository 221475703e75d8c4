/* serve.c: lockstep_serve IMPLEMENTATION [MODE [OPERATION]]: answers requests on standard input
 * with any implementation that --impl knows. MODE says how it misbehaves at that operation
 * (default: split), see the modes below; without a mode it is a good process. */
#include "serve.h"
#include "serve_modes.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory for results is large and mostly stays empty. A separate mapping costs only the pages that
 * are written; from the heap, all of it would be cleared each time. */
enum { MAPPED_BYTES = 64 * 1024 };

static void answer_all(struct serve *s, const struct serve_mode *mode, const char *at)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        const char *op = json_string_value(json_object_get(request, "op"));
        json_t *answer = !request ? NULL : serve_answer(s, request);

        if (!answer)
            exit(3); /* not a request */
        if (mode && op && strcmp(op, at) == 0) {
            serve_misbehave(mode, answer);
        } else {
            json_dumpf(answer, stdout, JSON_COMPACT);
            putchar('\n');
        }
        fflush(stdout);
        json_decref(answer);
        json_decref(request);
    }
    free(line);
}

int main(int argc, char **argv)
{
    struct serve serve;
    const struct serve_mode *mode = argc > 2 ? serve_mode_of(argv[2]) : NULL;
    char reason[600];

    memset(&serve, 0, sizeof serve);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    if (argc < 2 || argc > 4 || (argc > 2 && !mode)) {
        fprintf(stderr, "usage: lockstep_serve IMPLEMENTATION [MODE [OPERATION]]; modes:");
        serve_list_modes(stderr);
        return 2;
    }
    if (impl_load(argv[1], "", &serve.source, reason) != 0) {
        fprintf(stderr, "lockstep_serve: %s\n", reason);
        return 2;
    }
    answer_all(&serve, mode, argc > 3 ? argv[3] : "split");
    if (serve.session)
        serve.source.ops->close(serve.session);
    return 0;
}
