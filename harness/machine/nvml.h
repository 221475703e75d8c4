/* machine/nvml.h: NVML, the management library of NVIDIA. The few functions that are used are
 * declared here as in its public documentation, and are found at run time. So a program that is
 * built without CUDA can also use them if there is a driver. If there is none, that is a fact with
 * a reason.
 *
 * An NVML that is older than a function does not have its name. Then only the fact that the
 * function returns is absent. */
#ifndef HARNESS_NODE_NVML_H
#define HARNESS_NODE_NVML_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* Return values of the functions; other values are only shown as numbers. */
enum {
    NVML_SUCCESS = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_UNKNOWN = 999,
    NVML_NO_CALL = -1 /* our value: this NVML has no such function */
};

/* clang-format off */

/* The functions: row(INDEX, name, older, needed). older has the same arguments and results, and is
 * used where there is none of that name. Without one that is needed, NVML cannot be used. */
#define NODE_EACH_CALL(row) \
    row(INIT, "nvmlInit_v2", NULL, true) \
    row(SHUTDOWN, "nvmlShutdown", NULL, true) \
    row(ERROR_STRING, "nvmlErrorString", NULL, false) \
    row(DRIVER_VERSION, "nvmlSystemGetDriverVersion", NULL, false) \
    row(NVML_VERSION, "nvmlSystemGetNVMLVersion", NULL, false) \
    row(COUNT, "nvmlDeviceGetCount_v2", NULL, true) \
    row(HANDLE, "nvmlDeviceGetHandleByIndex_v2", NULL, true) \
    row(PCI, "nvmlDeviceGetPciInfo_v3", NULL, true) \
    row(NAME, "nvmlDeviceGetName", NULL, false) \
    row(UUID, "nvmlDeviceGetUUID", NULL, false) \
    row(MEMORY, "nvmlDeviceGetMemoryInfo", NULL, false) \
    row(PCIE_GENERATION_MAX, "nvmlDeviceGetMaxPcieLinkGeneration", NULL, false) \
    row(PCIE_WIDTH_MAX, "nvmlDeviceGetMaxPcieLinkWidth", NULL, false) \
    row(PCIE_GENERATION, "nvmlDeviceGetCurrPcieLinkGeneration", NULL, false) \
    row(PCIE_WIDTH, "nvmlDeviceGetCurrPcieLinkWidth", NULL, false) \
    row(CLOCK, "nvmlDeviceGetClockInfo", NULL, false) \
    row(CLOCK_MAX, "nvmlDeviceGetMaxClockInfo", NULL, false) \
    row(CLOCK_SET, "nvmlDeviceGetApplicationsClock", NULL, false) \
    row(THROTTLE, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons", false) \
    row(TEMPERATURE, "nvmlDeviceGetTemperature", NULL, false) \
    row(POWER, "nvmlDeviceGetPowerUsage", NULL, false) \
    row(POWER_LIMIT, "nvmlDeviceGetEnforcedPowerLimit", NULL, false) \
    row(POWER_LIMIT_DEFAULT, "nvmlDeviceGetPowerManagementDefaultLimit", NULL, false) \
    row(ENERGY, "nvmlDeviceGetTotalEnergyConsumption", NULL, false) \
    row(VIOLATION, "nvmlDeviceGetViolationStatus", NULL, false) \
    row(ECC_MODE, "nvmlDeviceGetEccMode", NULL, false) \
    row(ECC_ERRORS, "nvmlDeviceGetTotalEccErrors", NULL, false) \
    row(ROWS, "nvmlDeviceGetRemappedRows", NULL, false) \
    row(MIG, "nvmlDeviceGetMigMode", NULL, false) \
    row(PERSISTENCE, "nvmlDeviceGetPersistenceMode", NULL, false) \
    row(LINK_STATE, "nvmlDeviceGetNvLinkState", NULL, false) \
    row(LINK_ERRORS, "nvmlDeviceGetNvLinkErrorCounter", NULL, false) \
    row(LINK_REMOTE, "nvmlDeviceGetNvLinkRemotePciInfo_v2", NULL, false) \
    row(PROCESSES, "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", false)

#define NODE_CALL(index, ...) NODE_##index,
enum node_call { NODE_EACH_CALL(NODE_CALL) NODE_CALLS };
/* clang-format on */

typedef void node_function(void); /* cast to its real type before it is called */
typedef void *node_device;        /* opaque type of NVML */

/* The layout is that of the documentation of NVML. */
struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_violation {
    unsigned long long reference_us, violated_ns;
};
struct nvml_process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

/* Kinds of clocks, temperatures, errors, policies, and counters of a link. */
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };
enum { NVML_CORRECTED = 0, NVML_UNCORRECTED = 1, NVML_VOLATILE = 0, NVML_AGGREGATE = 1 };
enum { NVML_POLICY_POWER = 0, NVML_POLICY_THERMAL = 1 };
enum { NVML_LINK_REPLAY = 0, NVML_LINK_RECOVERY = 1, NVML_LINK_FLIT = 2, NVML_LINK_DATA = 3 };

struct node_nvml {
    void *library;
    node_function *call[NODE_CALLS]; /* NULL: it has no function of that name */
    char version[40], driver[40];    /* "12.550.54.15"; "unknown" */
};

/* Opens NVML. If path is NULL, the system finds libnvidia-ml.so.1. Returns 0, or why not. -1: there
 * is none, it is too old, or the driver does not answer. -2: memory is short, so it is not known.
 */
int node_nvml_open(const char *path, struct node_nvml *nvml, char why[160]);
void node_nvml_close(struct node_nvml *nvml);

/* The number of GPUs that it shows; -1: it does not answer. */
int node_nvml_count(const struct node_nvml *nvml);
/* Returns the value of the function. */
int node_nvml_device(const struct node_nvml *nvml, int index, node_device *device);
/* Writes "0000:19:00.0", the form of CUDA and sysfs. Returns the value of the function. */
int node_nvml_bus(const struct node_nvml *nvml, node_device device, char bus[16]);
void node_pci_words(const struct nvml_pci *pci, char bus[16]);

/* ---- a GPU as fields of a record: machine/gpu.c --------------------------------------------- */

/* A field without an answer is NaN or an empty text, never 0; `absent` says why. */

/* Reads all fields except the NUMA node. */
void node_gpu_read(const struct node_nvml *nvml, node_device device, struct record_gpu *gpu);

/* Reads what changes from moment to moment: throttle reasons, clocks, temperature, power; or the
 * rest: errors, links, processes. The other part of the reading does not change. */
void node_reading_read(const struct node_nvml *nvml, node_device device, bool rest,
                       struct record_reading *reading);

#endif
