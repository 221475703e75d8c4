/* machine/machine.c: reads what makes one machine differ from another one, and hashes it. */
#include "machine/machine.h"
#include "files/files.h"
#include "schema/fields.h"
#include "text/alloc.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

enum { PATH_BYTES = 512, ID_BYTES = 80 };

/* True if a "name : value" line is about that name. */
static bool is_about(const char *line, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(line, name, length) == 0 && line[length + strspn(line + length, " \t")] == ':';
}

FILE *machine_open(const char *path, int *status)
{
    FILE *file = fopen(path, "r");

    if (!file && errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != EPERM)
        *status = -1;
    return file;
}

/* Writes the GPUs as the driver of NVIDIA lists them, without starting CUDA. It is fine if there
 * are none. A list that cannot be read is an error, because it would change the class of the
 * machine. */
static void put_gpus(const char *root, FILE *to, int *status)
{
    char path[PATH_BYTES], line[256];
    glob_t found;

    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/*/information", root);
    const int none = glob(path, 0, NULL, &found);

    if (none == GLOB_NOSPACE || none == GLOB_ABORTED)
        *status = -1;
    if (none != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        FILE *from = fopen(found.gl_pathv[i], "r");

        while (from && fgets(line, sizeof line, from))
            if (is_about(line, "Model"))
                fputs(line, to);
        if (!from || ferror(from))
            *status = -1;
        if (from)
            fclose(from);
    }
    globfree(&found);
}

int machine_class(const char *root, const struct dp_machine *machine, char hex[DIGEST_HEX])
{
    const uint64_t gib = (uint64_t)1 << 30;
    const char *core = strrchr(machine->blas, '('); /* "OpenBLAS 0.3.21 ... (Haswell)" */
    static const char *const names[] = {"vendor_id",       "cpu family",       "model",
                                        "stepping",        "siblings",         "flags",
                                        "CPU implementer", "CPU architecture", "CPU variant",
                                        "CPU part",        "CPU revision",     "Features"};
    char path[PATH_BYTES], *line = NULL;
    struct memory_file file;
    size_t capacity = 0;
    ssize_t n = 0;
    int status = 0;

    hex[0] = '\0';
    memory_file_open(&file);
    FILE *const to = file.to;
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);

    FILE *const from = machine_open(path, &status);

    /* The first processor, of x86 or ARM. */
    while (from && (n = getline(&line, &capacity, from)) > 1)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
            if (is_about(line, names[i]))
                fputs(line, to);
    free(line);
    /* There is no memory for the line, or the file cannot be read further. */
    if (from && n < 0 && !feof(from))
        status = -1;
    const bool known_processor = from != NULL;

    if (from)
        fclose(from);
    put_gpus(root, to, &status);
    fprintf(to, "caches %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", machine->l1d_bytes,
            machine->l2_bytes, machine->l3_bytes);
    fprintf(to, "packages %d cores %d pus %d\n", machine->packages, machine->cores, machine->pus);
    fprintf(to, "blas %s\n", core == NULL ? machine->blas : core);
    fprintf(to, "memory %" PRIu64 "\n", (machine->memory_bytes + gib / 2) / gib);
    memory_file_close(&file);
    if (status == 0 && known_processor)
        status = digest_sha256(file.text, file.bytes, hex);
    free(file.text);
    return status;
}

bool machine_line(const char *root, const char *name, char *line, size_t bytes, int *status)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s%s", root, name);

    FILE *file = machine_open(path, status);
    const bool read = file && fgets(line, (int)bytes, file);

    if (file && ferror(file))
        *status = -1;
    if (file)
        fclose(file);
    return read;
}

/* A container need not have a machine-id; the id of the boot is enough there. */
int machine_instance(const char *root, char hex[DIGEST_HEX])
{
    char machine[ID_BYTES] = "", boot[ID_BYTES] = "", text[2 * ID_BYTES];
    int status = 0;

    hex[0] = '\0';
    if (!machine_line(root, "/proc/sys/kernel/random/boot_id", boot, sizeof boot, &status))
        return status;
    (void)machine_line(root, "/etc/machine-id", machine, sizeof machine, &status);
    const int n = snprintf(text, sizeof text, "%s%s", machine, boot);

    return status == 0 ? digest_sha256(text, (size_t)n, hex) : status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int machine_environment(char *const variables[], char *text, size_t bytes)
{
    static const char *const begins[] = {"OPENBLAS_",
                                         "OMP_",
                                         "GOMP_",
                                         "KMP_",
                                         "MKL_",
                                         "BLIS_",
                                         "DNNL_",
                                         "CUDA_",
                                         "NCCL_",
                                         "CUBLAS_",
                                         "NVIDIA_TF32_OVERRIDE=",
                                         "GLIBC_TUNABLES=",
                                         "MALLOC_",
                                         "GOTO_",
                                         "HWLOC_XMLFILE=",
                                         "HWLOC_THISSYSTEM="};
    struct memory_file joined;
    char hex[DIGEST_HEX];
    size_t n = 0, all = 0;
    int status = 0;

    text[0] = '\0';
    while (variables && variables[all])
        ++all;
    char **chosen = cli_alloc(all, sizeof *chosen);

    for (size_t i = 0; i < all; ++i)
        for (size_t k = 0; k < sizeof begins / sizeof begins[0]; ++k)
            if (strncmp(variables[i], begins[k], strlen(begins[k])) == 0) {
                chosen[n++] = variables[i];
                break;
            }
    qsort(chosen, n, sizeof *chosen, compare_texts);
    memory_file_open(&joined);
    for (size_t i = 0; i < n; ++i)
        fprintf(joined.to, "%s%s", i > 0 ? " " : "", chosen[i]);
    free(chosen);
    memory_file_close(&joined);
    if (joined.bytes < bytes)
        memcpy(text, joined.text, joined.bytes + 1);
    else if ((status = digest_sha256(joined.text, joined.bytes, hex)) == 0)
        snprintf(text, bytes, "%.*s... %s", (int)(bytes - DIGEST_HEX - 4), joined.text, hex);
    free(joined.text);
    return status;
}

int host_read(const char *root, struct record_run *run)
{
    char path[512], line[16];
    struct rlimit limit;
    struct statvfs is;
    unsigned value;
    int status = 0;

    run->memlock_bytes = run->shm_bytes = run->numa_balancing = (double)NAN;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        run->memlock_bytes =
            limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > (rlim_t)RECORD_EXACT_MAX
                ? (double)RECORD_EXACT_MAX
                : (double)limit.rlim_cur;
    snprintf(path, sizeof path, "%s/dev/shm", root);
    if (statvfs(path, &is) == 0)
        run->shm_bytes = (double)is.f_blocks * (double)is.f_frsize;
    if (machine_line(root, "/proc/sys/kernel/numa_balancing", line, sizeof line, &status) &&
        sscanf(line, "%9u", &value) == 1)
        run->numa_balancing = value;
    return status;
}
