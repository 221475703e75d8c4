/* machine/sysfs.c: reads /sys/bus/pci, /sys/class/infiniband and /sys/class/net. */
#include "machine/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "record/record.h"
#include "text/text.h"

enum { PATH_BYTES = 512, LINE_BYTES = 64 };

/* Reads the first line of a file; "": there is none. */
static void sysfs_line(struct sysfs *sys, char line[LINE_BYTES], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void sysfs_line(struct sysfs *sys, char line[LINE_BYTES], const char *format, ...)
{
    char name[PATH_BYTES];
    va_list arguments;

    va_start(arguments, format);
    const int n = vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    if (n >= PATH_BYTES || !machine_line(sys->root, name, line, LINE_BYTES, &sys->status))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    text_clean(line, ' ');
}

/* Returns the number at the beginning of the line; NaN if there is none, or if it is below 0. */
static double sysfs_number(const char *line)
{
    char *end;
    const double number = strtod(line, &end);

    return end != line && number >= 0 && number <= (double)RECORD_EXACT_MAX ? number : (double)NAN;
}

/* Notes a failure. A file that does not exist, or that this process may not read, is none. */
static void note_failure(struct sysfs *sys)
{
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != EPERM)
        sys->status = -1;
}

double sysfs_numa(struct sysfs *sys, const char *bus)
{
    char line[LINE_BYTES];

    sysfs_line(sys, line, "/sys/bus/pci/devices/%s/numa_node", bus);
    return sysfs_number(line);
}

/* ---- GPUs ---------------------------------------------------------------------------------- */

static unsigned long hex_of(const char *line)
{
    return strtoul(line, NULL, 16);
}

static int compare_gpus(const void *left, const void *right)
{
    const struct sysfs_gpu *a = left, *b = right;

    return strcmp(a->bus, b->bus);
}

static bool look_at(struct sysfs *sys, const char *bus, struct sysfs_gpu *gpu)
{
    char vendor[LINE_BYTES], device[LINE_BYTES], class[LINE_BYTES];
    const size_t length = strlen(bus);

    if (length >= sizeof gpu->bus)
        return false;
    sysfs_line(sys, vendor, "/sys/bus/pci/devices/%s/vendor", bus);
    sysfs_line(sys, class, "/sys/bus/pci/devices/%s/class", bus);
    const unsigned long maker = hex_of(vendor), is = hex_of(class);

    /* It is a display controller or a processing accelerator, of NVIDIA or AMD. The console of a
     * server is of another vendor. */
    if ((maker != 0x10de && maker != 0x1002) || (is >> 16 != 0x03 && is >> 8 != 0x1200))
        return false;
    sysfs_line(sys, device, "/sys/bus/pci/devices/%s/device", bus);
    memcpy(gpu->bus, bus, length + 1);
    snprintf(gpu->id, sizeof gpu->id, "%04lx:%04lx", maker & 0xffff, hex_of(device) & 0xffff);
    return true;
}

int sysfs_gpus(struct sysfs *sys, struct sysfs_gpu gpu[], int most)
{
    char path[PATH_BYTES];
    struct sysfs_gpu one;
    struct dirent *entry;
    DIR *folder;
    int n = 0;

    snprintf(path, sizeof path, "%.255s/sys/bus/pci/devices", sys->root);
    folder = opendir(path);
    if (!folder) {
        note_failure(sys);
        return -1;
    }
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.' && look_at(sys, entry->d_name, &one)) {
            if (n < most)
                gpu[n] = one;
            ++n;
        }
    closedir(folder);
    qsort(gpu, (size_t)(n < most ? n : most), sizeof *gpu, compare_gpus);
    return n;
}

/* Returns the PCIe generation: 5 for "32.0 GT/s PCIe". */
static double generation_of(const char *line)
{
    static const double rates[] = {2.5, 5, 8, 16, 32, 64};
    const double rate = sysfs_number(line);
    double generation = (double)NAN;

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; ++i)
        if (rate == rates[i])
            generation = (double)i + 1;
    return generation;
}

void sysfs_gpu_read(struct sysfs *sys, const struct sysfs_gpu *from, struct record_gpu *gpu)
{
    char line[LINE_BYTES];

    snprintf(gpu->bus, sizeof gpu->bus, "%s", from->bus);
    snprintf(gpu->model, sizeof gpu->model, "PCI %s", from->id);
    gpu->numa_node = sysfs_numa(sys, from->bus);
    sysfs_line(sys, line, "/sys/bus/pci/devices/%s/max_link_speed", from->bus);
    gpu->pcie_generation_max = generation_of(line);
    sysfs_line(sys, line, "/sys/bus/pci/devices/%s/max_link_width", from->bus);
    gpu->pcie_width_max = sysfs_number(line);
    sysfs_line(sys, line, "/sys/bus/pci/devices/%s/current_link_speed", from->bus);
    gpu->reading.pcie_generation = generation_of(line);
    sysfs_line(sys, line, "/sys/bus/pci/devices/%s/current_link_width", from->bus);
    gpu->reading.pcie_width = sysfs_number(line);
}

/* ---- network ports ------------------------------------------------------------------------- */

struct nics {
    struct sysfs *sys;
    struct record_nic *nic;
    int n, most;
};

/* Reads the address from the line "PCI_SLOT_NAME=0000:18:00.0" of a file. */
static void read_slot(struct sysfs *sys, const char *path, char bus[16])
{
    static const char key[] = "PCI_SLOT_NAME=";
    char line[128];
    FILE *file = machine_open(path, &sys->status);

    bus[0] = '\0';
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0) {
            line[strcspn(line, "\n")] = '\0';
            text_clean(line, ' ');
            snprintf(bus, 16, "%.15s", line + sizeof key - 1);
        }
    if (file && ferror(file))
        sys->status = -1;
    if (file)
        fclose(file);
}

/* Reads the card of CLASS/NAME. */
static void read_card(const struct nics *nics, const char *class, const char *name,
                      struct record_nic *nic)
{
    char path[PATH_BYTES], line[LINE_BYTES];

    record_unknown(record_nic_fields, nic);
    snprintf(path, sizeof path, "%.255s/sys/class/%.20s/%.100s/device/uevent", nics->sys->root,
             class, name);
    read_slot(nics->sys, path, nic->bus);
    sysfs_line(nics->sys, line, "/sys/class/%s/%s/device/numa_node", class, name);
    nic->numa_node = sysfs_number(line);
}

static void add_nic(struct nics *nics, const struct record_nic *nic)
{
    if (nics->n < nics->most)
        nics->nic[nics->n] = *nic;
    ++nics->n;
}

/* Adds a port, whose files have lines like "4: ACTIVE" and "400 Gb/sec (4X NDR)". */
static void add_port(struct nics *nics, const char *card, const char *port)
{
    struct record_nic nic = {.name = ""};
    char line[LINE_BYTES];

    read_card(nics, "infiniband", card, &nic);
    snprintf(nic.name, sizeof nic.name, "%.20s port %.4s", card, port);
    text_clean(nic.name, ' ');
    sysfs_line(nics->sys, line, "/sys/class/infiniband/%s/ports/%s/link_layer", card, port);
    snprintf(nic.layer, sizeof nic.layer, "%.15s", line);
    sysfs_line(nics->sys, line, "/sys/class/infiniband/%s/ports/%s/state", card, port);
    const char *state = strchr(line, ':');

    snprintf(nic.state, sizeof nic.state, "%.31s", state ? state + strspn(state, ": ") : line);
    sysfs_line(nics->sys, line, "/sys/class/infiniband/%s/ports/%s/rate", card, port);
    nic.rate_bits_per_s = strstr(line, "Gb/sec") ? 1e9 * sysfs_number(line) : (double)NAN;
    add_nic(nics, &nic);
}

/* Adds a network interface. One without a PCI card is no port of a card, and ports of InfiniBand
 * are already in the list. */
static void add_interface(struct nics *nics, const char *name, const char *unused)
{
    struct record_nic nic = {.layer = "Ethernet"};
    char line[LINE_BYTES];

    (void)unused;
    read_card(nics, "net", name, &nic);
    sysfs_line(nics->sys, line, "/sys/class/net/%s/type", name);
    if (nic.bus[0] == '\0' || strcmp(line, "1") != 0)
        return;
    snprintf(nic.name, sizeof nic.name, "%.31s", name);
    text_clean(nic.name, ' ');
    sysfs_line(nics->sys, line, "/sys/class/net/%s/operstate", name);
    snprintf(nic.state, sizeof nic.state, "%.31s", line);
    sysfs_line(nics->sys, line, "/sys/class/net/%s/speed", name);
    nic.rate_bits_per_s = 1e6 * sysfs_number(line);
    add_nic(nics, &nic);
}

/* Calls take for each entry of a folder, sorted by name. */
static void each(struct nics *nics, const char *folder, const char *before,
                 void (*take)(struct nics *, const char *, const char *))
{
    char path[PATH_BYTES];
    struct dirent **entry = NULL;
    const int length = snprintf(path, sizeof path, "%.255s%.255s", nics->sys->root, folder);
    const int n = length < PATH_BYTES ? scandir(path, &entry, NULL, alphasort) : 0;

    if (n < 0)
        note_failure(nics->sys);

    for (int i = 0; i < n; ++i) {
        if (entry[i]->d_name[0] != '.')
            take(nics, before ? before : entry[i]->d_name, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

static void add_ports(struct nics *nics, const char *card, const char *unused)
{
    char folder[PATH_BYTES];

    (void)unused;
    snprintf(folder, sizeof folder, "/sys/class/infiniband/%.200s/ports", card);
    each(nics, folder, card, add_port);
}

int sysfs_nics(struct sysfs *sys, struct record_nic nic[], int most)
{
    struct nics nics = {sys, nic, 0, most};

    each(&nics, "/sys/class/infiniband", NULL, add_ports);
    each(&nics, "/sys/class/net", NULL, add_interface);
    return nics.n;
}
