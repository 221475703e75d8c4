/* dataset_text.c: texts: bytes are numbers, and windows of them are rows. */
#include "dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "text";

enum { FIRST_BYTES = 1 << 16, TEST_PART = 10 };

/* The documents of this project, concatenated by plots/Embed.cmake and zero-terminated. */
extern const unsigned char dataset_documents[];

bool dataset_is_text(const char *what)
{
    const size_t length = sizeof NAME - 1;

    return strncmp(what, NAME, length) == 0 && (what[length] == ':' || what[length] == '\0');
}

const char *dataset_file(const char *what)
{
    return dataset_is_text(what) && what[sizeof NAME - 1] == ':' ? what + sizeof NAME : what;
}

size_t dataset_labels(const struct dataset *data)
{
    return data->text ? data->features : 1;
}

size_t dataset_text_part(const struct dataset *data)
{
    const size_t bytes = data->rows + data->features, window = data->features + 1;
    const size_t test = bytes / TEST_PART;

    return bytes - (test > window ? test : window);
}

/* Room for more, or none: it is a file without an end. */
static int grow(struct dataset *data, size_t *room, struct dp_error *err)
{
    unsigned char *text;

    if (*room >= DATASET_MAX_TEXT)
        return dp_fail(err, DP_EINVAL, "%s is longer than %d bytes", data->path, DATASET_MAX_TEXT);
    *room = *room == 0 ? FIRST_BYTES : 2 * *room;
    text = realloc(data->text, *room);
    if (!text)
        return dp_fail(err, DP_ENOMEM, "no memory for a text of %zu bytes", *room);
    data->text = text;
    return 0;
}

static int text_read_bytes(FILE *file, struct dataset *data, size_t *bytes, struct dp_error *err)
{
    size_t room = 0, got = 1;
    int status = 0;

    for (*bytes = 0; got > 0; *bytes += got) {
        if (*bytes == room && (status = grow(data, &room, err)))
            return status;
        got = fread(data->text + *bytes, 1, room - *bytes, file);
    }
    return ferror(file) ? dp_fail(err, DP_EINVAL, "cannot read %s: %s", data->path, strerror(errno))
                        : 0;
}

/* There is a window to train and one to test, and every byte is of the vocabulary. */
static int text_check(const struct dataset *data, size_t bytes, struct dp_error *err)
{
    const size_t window = data->features + 1;

    if (bytes < 2 * window)
        return dp_fail(err, DP_EINVAL,
                       "%s has %zu bytes: a context of %zu needs %zu at least, %zu to train and as "
                       "many to test",
                       data->path, bytes, data->features, 2 * window, window);
    for (size_t i = 0; i < bytes; ++i)
        if (data->text[i] >= data->classes)
            return dp_fail(err, DP_EINVAL, "%s: byte %zu is %d, the model's vocabulary has 0 to %d",
                           data->path, i + 1, data->text[i], data->classes - 1);
    return 0;
}

static FILE *open_named(const char *what)
{
    if (strcmp(what, NAME) != 0)
        return fopen(dataset_file(what), "r");
    return fmemopen((void *)dataset_documents, strlen((const char *)dataset_documents), "r");
}

int dataset_open_text(const char *what, const struct dataset_want *want, struct dataset *data,
                      struct dp_error *err)
{
    FILE *file;
    size_t bytes = 0;
    int status;

    *data = (struct dataset){.features = want->features, .classes = want->classes, .unit = 1};
    const char *path = dataset_file(what);
    const size_t length = strlen(path), most = sizeof data->path - 4;
    const char *slash = strrchr(path, '/');

    snprintf(data->name, sizeof data->name, "%s", slash ? slash + 1 : path);
    snprintf(data->path, sizeof data->path, "%s%s", length > most ? "..." : "",
             length > most ? path + length - most : path);
    if (dataset_file(what)[0] == '\0')
        return dp_fail(err, DP_EINVAL,
                       "data '%s' names no file: text:FILE, or text for this project's documents",
                       what);
    file = open_named(what);
    if (!file)
        return dp_fail(err, DP_EINVAL, "cannot read %s: %s", data->path, strerror(errno));
    status = text_read_bytes(file, data, &bytes, err);
    fclose(file);
    if (status || (status = text_check(data, bytes, err)))
        return status;
    data->rows = bytes - data->features;
    return 0;
}
