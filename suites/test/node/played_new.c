/* played_new.c: the functions that an old NVML does not have, played back. */
#include "played_nvml.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

PLAYED int nvmlDeviceGetCurrentClocksEventReasons(struct played_gpu *gpu, wide *value);
PLAYED int nvmlDeviceGetTotalEnergyConsumption(struct played_gpu *gpu, wide *value);
PLAYED int nvmlDeviceGetViolationStatus(struct played_gpu *gpu, unsigned policy,
                                        struct nvml_violation *violation);
PLAYED int nvmlDeviceGetRemappedRows(struct played_gpu *gpu, unsigned *corrected,
                                     unsigned *uncorrected, unsigned *pending, unsigned *failed);
PLAYED int nvmlDeviceGetMigMode(struct played_gpu *gpu, unsigned *now, unsigned *next);
PLAYED int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct played_gpu *gpu, unsigned link,
                                               struct nvml_pci *pci);
PLAYED int nvmlDeviceGetComputeRunningProcesses_v3(struct played_gpu *gpu, unsigned *n,
                                                   struct nvml_process *process);

int nvmlDeviceGetCurrentClocksEventReasons(struct played_gpu *gpu, wide *value)
{
    return played_number(gpu, "throttle", value);
}

int nvmlDeviceGetTotalEnergyConsumption(struct played_gpu *gpu, wide *value)
{
    return played_number(gpu, "energy", value);
}

int nvmlDeviceGetViolationStatus(struct played_gpu *gpu, unsigned policy,
                                 struct nvml_violation *violation)
{
    violation->reference_us = 1;
    return policy > 1 ? 2
                      : played_number(gpu, policy == 0 ? "violation.power" : "violation.thermal",
                                      &violation->violated_ns);
}

int nvmlDeviceGetRemappedRows(struct played_gpu *gpu, unsigned *corrected, unsigned *uncorrected,
                              unsigned *pending, unsigned *failed)
{
    int status = played_small(gpu, "rows.corrected", corrected);

    if (status == 0)
        status = played_small(gpu, "rows.uncorrected", uncorrected);
    if (status == 0)
        status = played_small(gpu, "rows.pending", pending);
    return status == 0 ? played_small(gpu, "rows.failed", failed) : status;
}

int nvmlDeviceGetMigMode(struct played_gpu *gpu, unsigned *now, unsigned *next)
{
    *next = 4711;
    return played_small(gpu, "mig", now);
}

/* Links take turns between the ends "end.0" to "end.N-1" of "ends N". */
int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct played_gpu *gpu, unsigned link, struct nvml_pci *pci)
{
    char name[48];
    wide ends = 0;

    memset(pci, 0, sizeof *pci);
    if (played_number(gpu, "ends", &ends) != 0)
        return 3;
    snprintf(name, sizeof name, "end.%llu", link % ends);
    return played_small(gpu, name, &pci->bus);
}

/* "process.0 self", by its number or this one; the first that is missing ends them. */
int nvmlDeviceGetComputeRunningProcesses_v3(struct played_gpu *gpu, unsigned *n,
                                            struct nvml_process *process)
{
    const unsigned room = *n;
    char name[48], text[128];
    int status = played_text(gpu, "process.0", text, sizeof text);

    if (status != 0 && played_text(gpu, "processes", text, sizeof text) != 0)
        return 3;
    for (*n = 0; status == 0 && *n < room; ++*n) {
        wide pid = (wide)getpid();

        if (strcmp(text, "self") != 0 && sscanf(text, "%llu", &pid) != 1)
            return 999;
        process[*n] = (struct nvml_process){.pid = (unsigned)pid};
        snprintf(name, sizeof name, "process.%u", *n + 1);
        status = played_text(gpu, name, text, sizeof text);
    }
    return 0;
}
