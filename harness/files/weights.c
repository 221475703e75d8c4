/* files/weights.c: writing weights, and reading them. Nothing of a file is believed before it was
 * checked. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"
#include "files/weights.h"
#include "text/text.h"

static const char LEVEL[] = "module."; /* of a name: what a wrapper adds */

/* ---- writing --------------------------------------------------------------------------------- */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file is little-endian, and numbers are written as they are in memory"
#endif

uint64_t weights_checksum(const unsigned char *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325U;

    for (size_t i = 0; i < n; ++i)
        sum = (sum ^ bytes[i]) * 0x100000001b3U;
    return sum;
}

int weights_list_open(struct dp_module *module, const struct workload *workload,
                      struct weights_list *list, struct dp_error *err)
{
    const int n = dp_module_params(module, NULL, 0);
    int status;

    *list = (struct weights_list){.n = 0};
    if (n < 0)
        return dp_fail(err, n, "no memory for a list of the model's parameters");
    list->param = calloc((size_t)n + 1, sizeof *list->param);
    list->name = calloc((size_t)n + 1, sizeof *list->name);
    if (!list->param || !list->name || dp_module_params(module, list->param, n) != n)
        return dp_fail(err, DP_ENOMEM, "no memory for a list of %d parameters", n);
    list->n = n;
    /* A name that the workload has comes after the levels. */
    for (int i = 0; i < n; ++i) {
        char *name = list->name[i], own[sizeof list->name[i]] = "";

        if ((status = dp_module_param_name(module, i, name, sizeof own)))
            return dp_fail(err, status, "no %s of parameter %d",
                           status == DP_ENOMEM ? "memory for the name" : "name", i);
        if (workload)
            workload_param_name(workload, (size_t)i, own, sizeof own);
        if (own[0] == '\0')
            continue;
        while (strncmp(name, LEVEL, sizeof LEVEL - 1) == 0)
            name += sizeof LEVEL - 1;
        snprintf(name, (size_t)(list->name[i] + sizeof own - name), "%s", own);
    }
    return 0;
}

void weights_list_close(struct weights_list *list)
{
    free(list->param);
    free(list->name);
    *list = (struct weights_list){.n = 0};
}

static unsigned char *append_bytes(unsigned char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* The whole file in memory. */
static int write_image(const struct weights_list *list, unsigned char *image, size_t bytes,
                       struct dp_error *err)
{
    const uint32_t version = WEIGHTS_VERSION, tensors = (uint32_t)list->n;
    unsigned char *to = append_bytes(image, WEIGHTS_MAGIC, WEIGHTS_MAGIC_BYTES);
    int status;

    to = append_bytes(to, &version, sizeof version);
    to = append_bytes(to, &tensors, sizeof tensors);
    to = append_bytes(to, &(uint64_t){bytes}, 8);
    for (int i = 0; i < list->n; ++i) {
        const struct dp_tensor *value = &list->param[i]->value;
        const uint16_t length = (uint16_t)strlen(list->name[i]);
        const unsigned char kind[2] = {(unsigned char)value->dtype, (unsigned char)value->ndim};

        to = append_bytes(to, &length, sizeof length);
        to = append_bytes(to, list->name[i], length);
        to = append_bytes(to, kind, sizeof kind);
        for (int d = 0; d < value->ndim; ++d)
            to = append_bytes(to, &(uint64_t){value->dim[d]}, 8);
        if ((status = dp_tensor_read(to, value, err)))
            return status;
        to += dp_tensor_bytes(value);
    }
    append_bytes(to, &(uint64_t){weights_checksum(image, (size_t)(to - image))}, WEIGHTS_SUM_BYTES);
    return 0;
}

static int refused(const char *path, const char *why, struct dp_error *err)
{
    return dp_fail(err, DP_EINVAL, "cannot write %.120s: %s", path, why);
}

/* A rename would put a file in the place of a device. */
static int check_place(const char *path, struct dp_error *err)
{
    struct stat there;
    const int failed = stat(path, &there) == 0 ? 0 : errno;

    if (failed != ENOENT && (failed != 0 || !S_ISREG(there.st_mode)))
        return refused(path, failed != 0 ? strerror(failed) : "it is not a regular file", err);
    return 0;
}

int weights_check(const char *path, struct dp_error *err)
{
    struct whole_file file;
    int status = check_place(path, err), failed = 0;

    if (status)
        return status;
    failed = whole_open(&file, path);
    if (failed)
        return refused(path, strerror(failed), err);
    whole_discard(&file);
    return 0;
}

int weights_save(struct dp_module *module, const struct workload *workload, const char *path,
                 struct dp_error *err)
{
    struct weights_list list;
    size_t bytes = WEIGHTS_HEAD_BYTES + WEIGHTS_SUM_BYTES;
    int status = weights_list_open(module, workload, &list, err);

    if (status == 0) {
        for (int i = 0; i < list.n; ++i) {
            const struct dp_tensor *value = &list.param[i]->value;

            bytes +=
                2 + strlen(list.name[i]) + 2 + 8 * (size_t)value->ndim + dp_tensor_bytes(value);
        }
        unsigned char *image = malloc(bytes);

        if (!image)
            status = dp_fail(err, DP_ENOMEM, "no memory for weights of %zu bytes", bytes);
        else if ((status = write_image(&list, image, bytes, err)) == 0 &&
                 (status = weights_readable(&list, path, image, bytes, err)) == 0 &&
                 (status = check_place(path, err)) == 0) {
            const int failed = whole_put(path, image, bytes, NULL);

            status = failed ? refused(path, strerror(failed), err) : 0;
        }
        free(image);
    }
    weights_list_close(&list);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { LOOK_BYTES = 1 << 26 };

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

/* The first thing asked of a file, which may have any size: whether it is one of ours, and whole.
 */
static int check_head(struct image *image, const unsigned char head[], size_t got)
{
    uint32_t version;
    uint64_t bytes;

    if (got < WEIGHTS_MAGIC_BYTES || memcmp(head, WEIGHTS_MAGIC, WEIGHTS_MAGIC_BYTES) != 0)
        return bad(image, "holds no weights: it does not begin with " WEIGHTS_MAGIC);
    if (image->n < WEIGHTS_HEAD_BYTES + WEIGHTS_SUM_BYTES)
        return dp_fail(image->err, DP_EINVAL, "%.100s is truncated: it has %zu bytes only",
                       image->path, image->n);
    memcpy(&version, head + 8, sizeof version);
    memcpy(&image->tensors, head + 12, sizeof image->tensors);
    memcpy(&bytes, head + 16, sizeof bytes);
    if (version != WEIGHTS_VERSION)
        return dp_fail(image->err, DP_EINVAL, "%.100s is of version %u; this program reads %d",
                       image->path, version, WEIGHTS_VERSION);
    if (bytes != image->n)
        return dp_fail(image->err, DP_EINVAL, "%.100s is %s: it has %zu of %llu bytes", image->path,
                       image->n < bytes ? "truncated" : "too long", image->n,
                       (unsigned long long)bytes);
    image->at = WEIGHTS_HEAD_BYTES;
    return 0;
}

/* Bytes that are there: fewer than n at the end of the file, or of an error. */
static size_t read_bytes(int fd, unsigned char bytes[], size_t n)
{
    size_t got = 0;

    while (got < n) {
        const ssize_t more = read(fd, bytes + got, n - got);

        if (more == 0 || (more < 0 && errno != EINTR))
            break;
        got += more > 0 ? (size_t)more : 0;
    }
    return got;
}

static int check_sum(const struct image *image)
{
    uint64_t sum;

    memcpy(&sum, image->bytes + image->n - WEIGHTS_SUM_BYTES, sizeof sum);
    return sum == weights_checksum(image->bytes, image->n - WEIGHTS_SUM_BYTES)
               ? 0
               : bad(image, "is damaged: its checksum is wrong");
}

/* Takes memory only for a file that can be the model's, or is small enough to be looked at to say
 * where it differs. */
static int read_file(struct image *image, const struct weights_list *list)
{
    /* The most bytes that a file of these weights can have, whatever wrappers add to the names. */
    size_t most = WEIGHTS_HEAD_BYTES + WEIGHTS_SUM_BYTES, got = 0;
    const int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    unsigned char head[WEIGHTS_HEAD_BYTES];
    struct stat info;
    int status = 0;

    for (int i = 0; i < list->n; ++i)
        most += 2 + sizeof list->name[i] + 2 + 8 * (size_t)DP_MAX_DIMS +
                dp_tensor_bytes(&list->param[i]->value);
    if (fd < 0 || fstat(fd, &info) != 0)
        status =
            dp_fail(image->err, DP_EINVAL, "cannot read %.120s: %s", image->path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = bad(image, "cannot be read: it is not a regular file");
    if (status == 0) {
        image->n = (size_t)info.st_size;
        got = read_bytes(fd, head, sizeof head);
        status = check_head(image, head, got);
    }
    if (status == 0 && image->n > (most > LOOK_BYTES ? most : LOOK_BYTES))
        status =
            dp_fail(image->err, DP_EINVAL,
                    "%.80s is of another model: it has %zu bytes, this one's weights at most %zu",
                    image->path, image->n, most);
    if (status == 0 && !(image->bytes = malloc(image->n)))
        status = dp_fail(image->err, DP_ENOMEM, "no memory to read %.120s: %zu bytes", image->path,
                         image->n);
    if (status == 0) {
        memcpy(image->bytes, head, got);
        status = read_bytes(fd, image->bytes + got, image->n - got) == image->n - got
                     ? check_sum(image)
                     : bad(image, "cannot be read to its end");
    }
    if (fd >= 0)
        close(fd);
    return status;
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

static int next_entry(struct image *image, struct entry *entry)
{
    static const char broken[] = "is damaged: a tensor in it has no valid description";
    const unsigned char *from = take(image, 2);
    uint16_t length = 0;

    if (!from)
        return bad(image, broken);
    memcpy(&length, from, sizeof length);
    from = take(image, length);
    if (!from || length >= sizeof entry->name || memchr(from, '\0', length))
        return bad(image, broken);
    memcpy(entry->name, from, length);
    entry->name[length] = '\0';
    if (!(from = take(image, 2)) || from[0] > DP_I64 || from[1] > DP_MAX_DIMS)
        return bad(image, broken);
    entry->dtype = from[0];
    entry->ndim = from[1];
    if (!(from = take(image, 8 * (uint64_t)entry->ndim)))
        return bad(image, broken);
    memcpy(entry->dim, from, 8 * (size_t)entry->ndim);
    entry->bytes = dp_dtype_bytes((enum dp_dtype)entry->dtype);
    for (unsigned d = 0; d < entry->ndim; ++d) {
        if (entry->dim[d] != 0 && entry->bytes > UINT64_MAX / 2 / entry->dim[d])
            return bad(image, broken); /* there cannot be so many */
        entry->bytes *= entry->dim[d];
    }
    if (!(entry->data = take(image, entry->bytes)))
        return bad(image, broken);
    return 0;
}

/* All entries once: they are valid and fill the file. */
static int check_entries(struct image *image)
{
    struct entry entry;
    int status;

    for (uint32_t i = 0; i < image->tensors; ++i)
        if ((status = next_entry(image, &entry)))
            return status;
    if (image->at != image->n - WEIGHTS_SUM_BYTES)
        return bad(image, "is damaged: there is more after its last tensor");
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

/* A tensor, with its name from just before the place where it differs from another. */
static void describe(const struct entry *entry, size_t same, char *text, size_t bytes)
{
    static const char *const types[] = {"float32", "float64", "int32", "int64"};
    const size_t skip = same > 12 ? same - 12 : 0;

    snprintf(text, bytes, "%s%.30s%s %s [", skip > 0 ? "..." : "", entry->name + skip,
             strlen(entry->name + skip) > 30 ? "..." : "", types[entry->dtype]);
    for (unsigned d = 0; d < entry->ndim; ++d)
        text_add(text, bytes, "%s%llu", d > 0 ? ", " : "", (unsigned long long)entry->dim[d]);
    text_add(text, bytes, "]");
}

/* there, here: NULL where there is no such tensor. */
static int differ(const struct image *image, int i, const struct entry *there,
                  const struct entry *here)
{
    char theirs[96] = "no tensor", ours[96] = "none";
    size_t same = 0;

    while (there && here && there->name[same] != '\0' && there->name[same] == here->name[same])
        ++same;
    /* Equal names are shown from their beginning. */
    if (there && here && there->name[same] == here->name[same])
        same = 0;
    if (there)
        describe(there, same, theirs, sizeof theirs);
    if (here)
        describe(here, same, ours, sizeof ours);
    return dp_fail(image->err, DP_EINVAL,
                   "%.60s is of another model: tensor %d is %s there, %s here", image->path, i,
                   theirs, ours);
}

/* Every tensor of the file is the model's, in its order; copies when they are. */
static int match(struct image *image, const struct weights_list *list, bool copy)
{
    int status;

    image->at = WEIGHTS_HEAD_BYTES;
    for (int i = 0; i < list->n || (uint32_t)i < image->tensors; ++i) {
        struct entry there, here;
        const struct entry *of_file = (uint32_t)i < image->tensors ? &there : NULL;
        const struct entry *of_model = i < list->n ? &here : NULL;

        if (of_file && (status = next_entry(image, &there)))
            return status;
        if (of_file) {
            char name[sizeof there.name];

            memcpy(name, there.name, sizeof name);
            bare_name(name, there.name);
        }
        if (of_model) {
            const struct dp_tensor *value = &list->param[i]->value;

            here = (struct entry){.dtype = (unsigned)value->dtype, .ndim = (unsigned)value->ndim};
            bare_name(list->name[i], here.name);
            for (int d = 0; d < value->ndim; ++d)
                here.dim[d] = value->dim[d];
        }
        if (!of_file || !of_model || strcmp(there.name, here.name) != 0 ||
            there.dtype != here.dtype || there.ndim != here.ndim ||
            memcmp(there.dim, here.dim, here.ndim * sizeof here.dim[0]) != 0)
            return differ(image, i, of_file, of_model);
        if (copy && (status = dp_tensor_write(&list->param[i]->value, there.data, image->err)))
            return status;
    }
    return 0;
}

int weights_readable(const struct weights_list *list, const char *path, unsigned char *bytes,
                     size_t n, struct dp_error *err)
{
    struct image image = {.path = path, .bytes = bytes, .n = n, .err = err};
    int status;

    if ((status = check_head(&image, bytes, n)) || (status = check_sum(&image)) ||
        (status = check_entries(&image)))
        return status;
    return match(&image, list, false);
}

int weights_load(struct dp_module *module, const struct workload *workload, const char *path,
                 struct dp_error *err)
{
    struct image image = {.path = path, .err = err};
    struct weights_list list = {.n = 0};
    int status;

    if ((status = weights_list_open(module, workload, &list, err)) == 0 &&
        (status = read_file(&image, &list)) == 0 && (status = check_entries(&image)) == 0) {
        if ((status = match(&image, &list, false)) == 0)
            status = match(&image, &list, true);
    }
    weights_list_close(&list);
    free(image.bytes);
    return status;
}
