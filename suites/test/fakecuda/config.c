/* config.c: the defaults, as the environment changes them. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void misuse(const char *name, const char *text, const char *allowed)
{
    fprintf(stderr, "fake cuda: %s=%s: must be %s\n", name, text, allowed);
    _exit(2);
}

static long config_number(const char *name, long low, long high, long otherwise)
{
    const char *text = getenv(name);
    char *end = NULL, allowed[64];
    const long value = text ? strtol(text, &end, 10) : otherwise;
    if (text && (end == text || *end != '\0' || value < low || value > high)) {
        snprintf(allowed, sizeof allowed, "%ld to %ld", low, high);
        misuse(name, text, allowed);
    }
    return value;
}

/* Index in the list of words that ends with NULL; 0 when it is not set. */
static int word(const char *name, const char *const words[])
{
    const char *text = getenv(name);
    char allowed[128] = "one of";
    if (!text)
        return 0;
    for (int i = 0; words[i]; ++i) {
        if (strcmp(words[i], text) == 0)
            return i;
        strncat(allowed, " ", sizeof allowed - strlen(allowed) - 1);
        strncat(allowed, words[i], sizeof allowed - strlen(allowed) - 1);
    }
    misuse(name, text, allowed);
    return 0;
}

static cudaError_t error(const char *name)
{
    const char *text = getenv(name);
    cudaError_t error = cudaSuccess;
    if (text && !fake_error_named(text, &error))
        misuse(name, text, "the name of an error, like cudaErrorNoDevice");
    return error;
}

/* "12", "12+" or "cudaMalloc:3" */
static struct fakecuda_failure failure(const char *name)
{
    static char function[64];
    struct fakecuda_failure result = {0};
    const char *text = getenv(name);
    if (!text)
        return result;
    const char *colon = strchr(text, ':'), *digits = colon ? colon + 1 : text;
    char *end = NULL;
    result.call = strtol(digits, &end, 10);
    result.lasting = *end == '+';
    if (end == digits || end[result.lasting] != '\0' || result.call < 1 ||
        (colon && (size_t)(colon - text) >= sizeof function))
        misuse(name, text, "CALL or FUNCTION:CALL, then + for all after it");
    if (colon) {
        snprintf(function, sizeof function, "%.*s", (int)(colon - text), text);
        result.function = function;
    }
    return result;
}

struct fakecuda_config fakecuda_defaults(void)
{
    static const char *const modes[] = {
        [FAKECUDA_LAZY] = "lazy", [FAKECUDA_EAGER] = "eager", [FAKECUDA_RANDOM] = "random", NULL};
    static const char *const drivers[] = {[FAKECUDA_DRIVER_GOOD] = "good",
                                          [FAKECUDA_DRIVER_NONE] = "none",
                                          [FAKECUDA_DRIVER_OLD] = "old",
                                          [FAKECUDA_DRIVER_BROKEN] = "broken",
                                          NULL};
    return (struct fakecuda_config){
        .devices = (int)config_number("LOCKSTEP_FAKE_GPUS", 0, FAKECUDA_DEVICES, 1),
        .mode = (enum fakecuda_mode)word("LOCKSTEP_FAKE_MODE", modes),
        .driver = (enum fakecuda_driver)word("LOCKSTEP_FAKE_DRIVER", drivers),
        .seed = (uint64_t)config_number("LOCKSTEP_FAKE_SEED", 0, 1000000000, 1),
        .races = config_number("LOCKSTEP_FAKE_RACES", 0, 1, 1) != 0,
        .peer = config_number("LOCKSTEP_FAKE_PEER", 0, 1, 1) != 0,
        .peers = (int)config_number("LOCKSTEP_FAKE_PEERS", 1, 8, 8),
        .stop = config_number("LOCKSTEP_FAKE_STOP", 0, 1, 0) != 0,
        .memory_bytes = (size_t)config_number("LOCKSTEP_FAKE_MEMORY", 1, 65536, 512) << 20,
        .capability = (int)config_number("LOCKSTEP_FAKE_CAPABILITY", 10, 999, 90),
        .patience_ms = (unsigned)config_number("LOCKSTEP_FAKE_PATIENCE", 1, 600000, 5000),
        .init = (int)error("LOCKSTEP_FAKE_INIT"),
        .failure = failure("LOCKSTEP_FAKE_FAIL"),
        .nccl_version = (int)config_number("LOCKSTEP_FAKE_NCCL", 1000, 99999, 22809),
        .nccl_polls = (unsigned)config_number("LOCKSTEP_FAKE_NCCL_POLLS", 0, 1000, 2),
        .nccl_hang = config_number("LOCKSTEP_FAKE_NCCL_HANG", 1, 1000000000, 0),
        .nccl_error = config_number("LOCKSTEP_FAKE_NCCL_ERROR", 1, 1000000000, 0),
        .nccl_varies = config_number("LOCKSTEP_FAKE_NCCL_VARIES", 0, 1, 0) != 0,
    };
}
