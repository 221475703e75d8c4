/* weights.c: weights when memory is short, and weights whose names differ late. The argument is a
 * path.
 *
 * The linker gives this program its own malloc, calloc and realloc for all that is not a shared
 * library, and its own way into weights_save; see CMakeLists.txt. */
#include "files/weights.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../must.h"
#include "command/command.h"
#include "train/train.h"

enum { DEPTH = 20, MOST = 10000 };

/* The planned failure: the allocation that counts left down to 0. In train it is armed when the
 * weights are saved. */
static struct {
    long left, in_save;
    bool hit;
} fault;

static int failures;

static void weights_expect(bool good, const char *what, long at)
{
    if (good)
        return;
    ++failures;
    fprintf(stderr, "FAILED at allocation %ld: %s\n", at, what);
}

static void arm(long at)
{
    fault.left = at;
    fault.hit = false;
}

static bool falls_short(void)
{
    if (fault.left == 0 || --fault.left > 0)
        return false;
    fault.hit = true;
    return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
int __real_weights_save(struct dp_module *module, const struct workload *workload, const char *path,
                        struct dp_error *err);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
int __wrap_weights_save(struct dp_module *module, const struct workload *workload, const char *path,
                        struct dp_error *err);

void *__wrap_malloc(size_t bytes)
{
    return falls_short() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return falls_short() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return falls_short() ? NULL : __real_realloc(memory, bytes);
}

int __wrap_weights_save(struct dp_module *module, const struct workload *workload, const char *path,
                        struct dp_error *err)
{
    arm(fault.in_save);
    const int status = __real_weights_save(module, workload, path, err);

    fault.left = 0;
    return status;
}

/* Makes a linear layer inside of DEPTH sequentials, after a ReLU or not: "0.0. ... .1.weight". */
static struct dp_module *make_deep(struct dp_group *group, bool second)
{
    struct dp_module *linear = NULL, *relu = NULL, *inner = NULL;

    must(dp_linear(group, 2, 2, true, &linear, &must_err));
    must(dp_relu(group, &relu, &must_err));
    struct dp_module *const parts[] = {second ? relu : linear, linear};

    must(dp_sequential(group, parts, second ? 2 : 1, &inner, &must_err));
    dp_module_close(linear);
    dp_module_close(relu);
    for (int i = 0; i < DEPTH; ++i) {
        struct dp_module *outer = NULL;

        must(dp_sequential(group, &inner, 1, &outer, &must_err));
        dp_module_close(inner);
        inner = outer;
    }
    return inner;
}

/* Counts the files in the working directory. */
static int count_files(void)
{
    DIR *folder = opendir(".");
    int n = 0;

    while (folder && readdir(folder))
        ++n;
    if (folder)
        closedir(folder);
    return n;
}

static void test_params(struct dp_group *group)
{
    struct dp_module *deep = make_deep(group, false);
    struct dp_param *list[2] = {NULL};

    arm(1);
    weights_expect(dp_module_params(deep, list, 2) == DP_ENOMEM, "dp_module_params hides it", 1);
    weights_expect(fault.hit && !list[0], "something was listed", 1);
    weights_expect(dp_module_params(deep, list, 2) == 2, "two parameters", 0);
    dp_module_close(deep);
}

static void test_save(struct dp_group *group)
{
    struct dp_module *deep = make_deep(group, false);
    const int before = count_files();
    long at = 0;

    do {
        struct dp_error err = {0};

        arm(++at);
        const int status = __real_weights_save(deep, NULL, "deep.weights", &err);

        fault.left = 0;
        weights_expect(!fault.hit || (status == DP_ENOMEM && err.text[0] != '\0'),
                       "no error of memory", at);
        weights_expect(!fault.hit || count_files() == before, "a file is left", at);
        weights_expect(fault.hit || status == 0, "cannot save", at);
    } while (fault.hit && at < MOST);
    weights_expect(at > 4, "hardly an allocation", at);
    dp_module_close(deep);
}

/* After test_save. */
/* The disk changes the bytes that are written. */
static bool spoils;

int fsync(int fd)
{
    return spoils && pwrite(fd, "x", 1, WEIGHTS_HEAD_BYTES) != 1 ? -1 : 0;
}

static void test_spoiled(struct dp_group *group)
{
    struct dp_module *deep = make_deep(group, false);
    const int before = count_files();
    struct dp_error err = {0};

    spoils = true;
    weights_expect(__real_weights_save(deep, NULL, "spoiled.weights", &err) == DP_EINVAL &&
                       strstr(err.text, "cannot write spoiled.weights: "),
                   "a file has other bytes than were written", 0);
    weights_expect(count_files() == before, "and it is there", 0);
    spoils = false;
    dp_module_close(deep);
}

static void test_names(struct dp_group *group)
{
    struct dp_module *same = make_deep(group, false), *other = make_deep(group, true);
    struct dp_error err = {0};

    must(weights_load(same, NULL, "deep.weights", &must_err));
    weights_expect(weights_load(other, NULL, "deep.weights", &err) == DP_EINVAL,
                   "another model's were loaded", 0);
    weights_expect(strstr(err.text, "tensor 0 is ...0.0.0.0.0.0.0.weight float32 [2, 2] there, "
                                    "...0.0.0.0.0.0.1.weight") != NULL,
                   err.text, 0);
    dp_module_close(same);
    dp_module_close(other);
}

static void test_side(struct dp_group *group, bool ddp)
{
    struct train_model model;
    struct dataset data = {.features = 3, .classes = 2};
    char why[200];
    long at = 0;

    if (train_model_make("mlp:3,2", &data, &model, why, sizeof why)) {
        weights_expect(false, why, 0);
        return;
    }
    const struct train_side_config config = {
        .model = &model, .batch = 2, .update = {.lr = 1, .parts = 1}, .ddp = ddp};

    do {
        struct train_side side;
        struct dp_error err = {0};

        arm(++at);
        int status = train_side_open(&side, group, &config, &err);

        if (status == 0)
            status = train_side_spread(&side, &err);
        fault.left = 0;
        weights_expect(fault.hit == (status != 0), status != 0 ? err.text : "it was not seen", at);
        train_side_close(&side);
    } while (fault.hit && at < MOST);
    weights_expect(at > 10, "hardly an allocation", at);
}

/* A training must end with the error, and not go on as if it had no parameters. */
static void test_train(void)
{
    long at = 0;

    do {
        char text[][16] = {"lockstep train", "--data", "random",   "--model", "tutorial",
                           "--devices",      "host",   "--epochs", "0",       "--save",
                           "kept.weights"};
        char *argv[12] = {NULL};

        for (size_t i = 0; i < sizeof text / sizeof text[0]; ++i)
            argv[i] = text[i];
        unlink("kept.weights");
        fault.in_save = ++at;
        fault.hit = false;
        const int status = train_main(11, argv);
        const bool is_there = access("kept.weights", F_OK) == 0;

        weights_expect(fault.hit ? status == EXIT_FAILED && !is_there : status == 0 && is_there,
                       "the weights or the status", at);
    } while (fault.hit && at < MOST);
    weights_expect(at > 4, "hardly an allocation", at);
}

int main(int argc, char **argv)
{
    const struct dp_group_config config = {.devices = "virt:2", .backend = "cpu-ref"};
    struct dp_group *group = NULL;

    if (argc != 2 || chdir(argv[1]) != 0)
        return 2;
    must(dp_group_open(&config, &group, &must_err));
    test_params(group);
    test_save(group);
    test_spoiled(group);
    test_names(group);
    test_side(group, false);
    test_side(group, true);
    dp_group_close(group);
    test_train();
    return failures > 0;
}
