/* weights_read.c: reading weights. Nothing of a file is believed before it was checked. */
#include "weights.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LEVEL[] = "module.";

struct entry {
    char name[128];
    unsigned dtype, ndim;
    uint64_t dim[DP_MAX_DIMS];
    const unsigned char *data;
    uint64_t bytes;
};

struct image {
    const char *path;
    unsigned char *bytes;
    size_t n, at; /* at: the next entry */
    uint32_t tensors;
    struct dp_error *err;
};

static int bad(const struct image *image, const char *what)
{
    return dp_fail(image->err, DP_EINVAL, "%.100s %s", image->path, what);
}

static int read_file(struct image *image)
{
    struct stat info;
    size_t got = 0;
    ssize_t n = 1;
    const int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        const int reason = fd < 0 ? errno : 0;

        if (fd >= 0)
            close(fd);
        return dp_fail(image->err, DP_EINVAL, "cannot read %.120s: %s", image->path,
                       reason != 0 ? strerror(reason) : "it is not a regular file");
    }
    image->n = (size_t)info.st_size;
    if ((image->bytes = malloc(image->n + 1)) != NULL)
        while (got < image->n && (n = read(fd, image->bytes + got, image->n - got)) > 0)
            got += (size_t)n;
    close(fd);
    if (image->bytes == NULL)
        return dp_fail(image->err, DP_ENOMEM, "no memory to read %.120s", image->path);
    return got == image->n ? 0 : bad(image, "cannot be read to its end");
}

static int check_head(struct image *image)
{
    uint32_t version;
    uint64_t bytes, sum;

    if (image->n < WEIGHTS_MAGIC_BYTES ||
        memcmp(image->bytes, WEIGHTS_MAGIC, WEIGHTS_MAGIC_BYTES) != 0)
        return bad(image, "holds no weights: it does not begin with " WEIGHTS_MAGIC);
    if (image->n < WEIGHTS_HEAD_BYTES + WEIGHTS_SUM_BYTES)
        return dp_fail(image->err, DP_EINVAL, "%.100s is truncated: it has %zu bytes only",
                       image->path, image->n);
    memcpy(&version, image->bytes + 8, sizeof version);
    memcpy(&image->tensors, image->bytes + 12, sizeof image->tensors);
    memcpy(&bytes, image->bytes + 16, sizeof bytes);
    if (version != WEIGHTS_VERSION)
        return dp_fail(image->err, DP_EINVAL, "%.100s is of version %u; this program reads %d",
                       image->path, version, WEIGHTS_VERSION);
    if (bytes != image->n)
        return dp_fail(image->err, DP_EINVAL, "%.100s is %s: it has %zu of %llu bytes", image->path,
                       image->n < bytes ? "truncated" : "too long", image->n,
                       (unsigned long long)bytes);
    memcpy(&sum, image->bytes + image->n - WEIGHTS_SUM_BYTES, sizeof sum);
    if (sum != weights_checksum(image->bytes, image->n - WEIGHTS_SUM_BYTES))
        return bad(image, "is damaged: its checksum is wrong");
    image->at = WEIGHTS_HEAD_BYTES;
    return 0;
}

/* Takes bytes of the file, up to the checksum; NULL when there are not so many left. */
static const unsigned char *take(struct image *image, uint64_t bytes)
{
    const unsigned char *from = image->bytes + image->at;

    if (bytes > image->n - WEIGHTS_SUM_BYTES - image->at)
        return NULL;
    image->at += (size_t)bytes;
    return from;
}

/* Bytes of the data, or UINT64_MAX when that many cannot be. */
static uint64_t data_bytes(const struct entry *entry)
{
    uint64_t bytes = dp_dtype_bytes((enum dp_dtype)entry->dtype);

    for (unsigned d = 0; d < entry->ndim; d++) {
        if (entry->dim[d] != 0 && bytes > UINT64_MAX / 2 / entry->dim[d])
            return UINT64_MAX;
        bytes *= entry->dim[d];
    }
    return bytes;
}

static int next_entry(struct image *image, struct entry *entry)
{
    static const char broken[] = "is damaged: a tensor in it has no valid description";
    const unsigned char *from = take(image, 2);
    uint16_t length = 0;

    if (from == NULL)
        return bad(image, broken);
    memcpy(&length, from, sizeof length);
    from = take(image, length);
    if (from == NULL || length >= sizeof entry->name || memchr(from, '\0', length) != NULL)
        return bad(image, broken);
    memcpy(entry->name, from, length);
    entry->name[length] = '\0';
    if ((from = take(image, 2)) == NULL || from[0] > DP_I64 || from[1] > DP_MAX_DIMS)
        return bad(image, broken);
    entry->dtype = from[0];
    entry->ndim = from[1];
    if ((from = take(image, 8 * (uint64_t)entry->ndim)) == NULL)
        return bad(image, broken);
    memcpy(entry->dim, from, 8 * (size_t)entry->ndim);
    entry->bytes = data_bytes(entry);
    if ((entry->data = take(image, entry->bytes)) == NULL)
        return bad(image, broken);
    return 0;
}

/* All entries once: they are valid and fill the file. */
static int check_entries(struct image *image)
{
    struct entry entry;
    int rc;

    for (uint32_t i = 0; i < image->tensors; i++)
        if ((rc = next_entry(image, &entry)))
            return rc;
    if (image->at != image->n - WEIGHTS_SUM_BYTES)
        return bad(image, "is damaged: there is more behind its last tensor");
    image->at = WEIGHTS_HEAD_BYTES;
    return 0;
}

/* The name without the levels that wrappers add. */
static void bare_name(const char *name, char bare[128])
{
    const size_t level = sizeof LEVEL - 1;
    size_t used = 0;

    for (const char *at = name; *at != '\0' && used < 127;) {
        if ((at == name || at[-1] == '.') && strncmp(at, LEVEL, level) == 0)
            at += level;
        else
            bare[used++] = *at++;
    }
    bare[used] = '\0';
}

static void describe(const char *name, int dtype, unsigned ndim, const uint64_t dim[], char *text,
                     size_t bytes)
{
    static const char *const types[] = {"float32", "float64", "int32", "int64"};
    char bare[128];

    bare_name(name, bare);
    size_t used = (size_t)snprintf(text, bytes, "%.30s %s [", bare, types[dtype]);

    for (unsigned d = 0; d < ndim && used < bytes; d++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%llu", d > 0 ? ", " : "",
                                 (unsigned long long)dim[d]);
    if (used < bytes)
        snprintf(text + used, bytes - used, "]");
}

static void describe_param(const struct weights_list *list, int i, char *text, size_t bytes)
{
    const struct dp_tensor *value = &list->param[i]->value;
    uint64_t dim[DP_MAX_DIMS] = {0};

    for (int d = 0; d < value->ndim; d++)
        dim[d] = value->dim[d];
    describe(list->name[i], (int)value->dtype, (unsigned)value->ndim, dim, text, bytes);
}

/* Every tensor of the file is the model's, in its order; copies when they are. */
static int match(struct image *image, const struct weights_list *list, bool copy)
{
    char there[100], here[100];
    struct entry entry;
    int rc;

    image->at = WEIGHTS_HEAD_BYTES;
    for (int i = 0; i < list->n || (uint32_t)i < image->tensors; i++) {
        snprintf(there, sizeof there, "no tensor");
        snprintf(here, sizeof here, "none");
        if ((uint32_t)i < image->tensors) {
            if ((rc = next_entry(image, &entry)))
                return rc;
            describe(entry.name, (int)entry.dtype, entry.ndim, entry.dim, there, sizeof there);
        }
        if (i < list->n)
            describe_param(list, i, here, sizeof here);
        if (strcmp(there, here) != 0)
            return dp_fail(image->err, DP_EINVAL,
                           "%.60s is of another model: tensor %d is %s there, %s here", image->path,
                           i, there, here);
        if (copy && (rc = dp_tensor_write(&list->param[i]->value, entry.data, image->err)))
            return rc;
    }
    return 0;
}

int weights_load(struct dp_module *module, const char *path, struct dp_error *err)
{
    struct image image = {.path = path, .err = err};
    struct weights_list list = {.n = 0};
    int rc;

    if ((rc = read_file(&image)) == 0 && (rc = check_head(&image)) == 0 &&
        (rc = check_entries(&image)) == 0 && (rc = weights_list_open(module, &list, err)) == 0) {
        if ((rc = match(&image, &list, false)) == 0)
            rc = match(&image, &list, true);
    }
    weights_list_close(&list);
    free(image.bytes);
    return rc;
}
