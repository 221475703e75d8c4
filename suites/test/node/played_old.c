/* played_old.c: the functions that every NVML of this century's drivers has, played back. */
#include "played_nvml.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

PLAYED int nvmlInit_v2(void);
PLAYED int nvmlShutdown(void);
PLAYED const char *nvmlErrorString(int status);
PLAYED int nvmlSystemGetDriverVersion(char *text, unsigned bytes);
PLAYED int nvmlSystemGetNVMLVersion(char *text, unsigned bytes);
PLAYED int nvmlDeviceGetCount_v2(unsigned *n);
PLAYED int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct played_gpu **gpu);
PLAYED int nvmlDeviceGetPciInfo_v3(struct played_gpu *gpu, struct nvml_pci *pci);
PLAYED int nvmlDeviceGetName(struct played_gpu *gpu, char *text, unsigned bytes);
PLAYED int nvmlDeviceGetUUID(struct played_gpu *gpu, char *text, unsigned bytes);
PLAYED int nvmlDeviceGetMemoryInfo(struct played_gpu *gpu, struct nvml_memory *memory);
PLAYED int nvmlDeviceGetCurrentClocksThrottleReasons(struct played_gpu *gpu, wide *value);
PLAYED int nvmlDeviceGetTemperature(struct played_gpu *gpu, unsigned kind, unsigned *value);
PLAYED int nvmlDeviceGetEccMode(struct played_gpu *gpu, unsigned *now, unsigned *next);
PLAYED int nvmlDeviceGetTotalEccErrors(struct played_gpu *gpu, unsigned type, unsigned counter,
                                       wide *value);
PLAYED int nvmlDeviceGetNvLinkState(struct played_gpu *gpu, unsigned link, unsigned *value);
PLAYED int nvmlDeviceGetNvLinkErrorCounter(struct played_gpu *gpu, unsigned link, unsigned counter,
                                           wide *value);

int played_small(const struct played_gpu *gpu, const char *name, unsigned *value)
{
    wide number = 0;
    const int status = played_number(gpu, name, &number);

    *value = status == 0 ? (unsigned)number : 4711; /* the caller may not use it */
    return status;
}

/* Define functions that read one number of that name, the second "clock.1": one of several kinds.
 */
#define SMALL(function, name)                                                                      \
    PLAYED int function(struct played_gpu *gpu, unsigned *value);                                  \
    int function(struct played_gpu *gpu, unsigned *value)                                          \
    {                                                                                              \
        return played_small(gpu, name, value);                                                     \
    }
#define SMALL_OF(function, name)                                                                   \
    PLAYED int function(struct played_gpu *gpu, unsigned kind, unsigned *value);                   \
    int function(struct played_gpu *gpu, unsigned kind, unsigned *value)                           \
    {                                                                                              \
        char of[48];                                                                               \
                                                                                                   \
        snprintf(of, sizeof of, "%s.%u", name, kind);                                              \
        return played_small(gpu, of, value);                                                       \
    }

SMALL(nvmlDeviceGetMaxPcieLinkGeneration, "pcie.generation.max")
SMALL(nvmlDeviceGetMaxPcieLinkWidth, "pcie.width.max")
SMALL(nvmlDeviceGetCurrPcieLinkGeneration, "pcie.generation")
SMALL(nvmlDeviceGetCurrPcieLinkWidth, "pcie.width")
SMALL(nvmlDeviceGetPowerUsage, "power")
SMALL(nvmlDeviceGetEnforcedPowerLimit, "power.limit")
SMALL(nvmlDeviceGetPowerManagementDefaultLimit, "power.default")
SMALL(nvmlDeviceGetPersistenceMode, "persistence")
SMALL_OF(nvmlDeviceGetClockInfo, "clock")
SMALL_OF(nvmlDeviceGetMaxClockInfo, "clock.max")
SMALL_OF(nvmlDeviceGetApplicationsClock, "clock.set")

int nvmlInit_v2(void)
{
    return played_start();
}

int nvmlShutdown(void)
{
    return 0;
}

const char *nvmlErrorString(int status)
{
    return status == 9 ? "Driver Not Loaded" : "Some Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned bytes)
{
    return played_text(NULL, "driver", text, bytes);
}

int nvmlSystemGetNVMLVersion(char *text, unsigned bytes)
{
    return played_text(NULL, "nvml", text, bytes);
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = (unsigned)played_count();
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct played_gpu **gpu)
{
    wide status;

    *gpu = played_gpu(index);
    if (!*gpu)
        return 2;
    return played_number(*gpu, "lost", &status) == 0 ? 15 : 0;
}

/* Reads "bus 0x19": the other parts of the address are 0. */
int nvmlDeviceGetPciInfo_v3(struct played_gpu *gpu, struct nvml_pci *pci)
{
    memset(pci, 0, sizeof *pci);
    return played_small(gpu, "bus", &pci->bus);
}

int nvmlDeviceGetName(struct played_gpu *gpu, char *text, unsigned bytes)
{
    return played_text(gpu, "name", text, bytes);
}

int nvmlDeviceGetUUID(struct played_gpu *gpu, char *text, unsigned bytes)
{
    return played_text(gpu, "uuid", text, bytes);
}

int nvmlDeviceGetMemoryInfo(struct played_gpu *gpu, struct nvml_memory *memory)
{
    const int status = played_number(gpu, "memory", &memory->total);

    return status != 0 ? status : played_number(gpu, "memory.used", &memory->used);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct played_gpu *gpu, wide *value)
{
    return played_number(gpu, "throttle", value);
}

int nvmlDeviceGetTemperature(struct played_gpu *gpu, unsigned kind, unsigned *value)
{
    return kind == 0 ? played_small(gpu, "temperature", value) : 2;
}

int nvmlDeviceGetEccMode(struct played_gpu *gpu, unsigned *now, unsigned *next)
{
    *next = 4711;
    return played_small(gpu, "ecc", now);
}

/* Reads "ecc.corrected.volatile". */
int nvmlDeviceGetTotalEccErrors(struct played_gpu *gpu, unsigned type, unsigned counter,
                                wide *value)
{
    static const char *const types[] = {"corrected", "uncorrected"};
    static const char *const counters[] = {"volatile", "aggregate"};
    char name[48];

    if (type > 1 || counter > 1)
        return 2;
    snprintf(name, sizeof name, "ecc.%s.%s", types[type], counters[counter]);
    return played_number(gpu, name, value);
}

/* Reads the number of the link itself, or else that of all links. */
static int link_number(const struct played_gpu *gpu, unsigned link, const char *what, wide *value)
{
    char name[48];
    wide links = 0;
    int status = played_number(gpu, "links", &links);

    if (status != 0 || link >= links)
        return status != 0 ? status : 2;
    snprintf(name, sizeof name, "link.%u.%s", link, what);
    status = played_number(gpu, name, value);
    snprintf(name, sizeof name, "link.%s", what);
    return status == 3 ? played_number(gpu, name, value) : status;
}

int nvmlDeviceGetNvLinkState(struct played_gpu *gpu, unsigned link, unsigned *value)
{
    wide number = 0;
    const int status = link_number(gpu, link, "state", &number);

    *value = status == 0 ? (unsigned)number : 4711;
    return status;
}

int nvmlDeviceGetNvLinkErrorCounter(struct played_gpu *gpu, unsigned link, unsigned counter,
                                    wide *value)
{
    static const char *const names[] = {"replays", "recoveries", "flit", "data"};

    return counter < 4 ? link_number(gpu, link, names[counter], value) : 2;
}
