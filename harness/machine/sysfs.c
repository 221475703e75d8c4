/* machine/sysfs.c: reads /sys/bus/pci, /sys/class/infiniband and /sys/class/net. */

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

struct record_gpu *sysfs_next_gpu(struct record_node *node)
{
    struct record_gpu *gpu = node->n_gpus < RECORD_MAX_GPUS ? &node->gpu[node->n_gpus++] : NULL;

    if (!gpu)
        return NULL;
    memset(gpu, 0, sizeof *gpu);
    record_unknown(record_gpu_fields, gpu);
    record_unknown(record_reading_fields, &gpu->reading);
    return gpu;
}

int sysfs_gpus(struct sysfs *sys, struct record_node *node, const char *absent)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    struct dirent *entry;
    DIR *folder;
    int n = 0;

    snprintf(path, sizeof path, "%.255s/sys/bus/pci/devices", sys->root);
    folder = opendir(path);
    if (!folder) {
        note_failure(sys);
        return -1;
    }
    while ((entry = readdir(folder))) {
        const char *bus = entry->d_name;
        struct record_gpu *gpu;
        int known = 0;

        if (bus[0] == '.' || strlen(bus) >= sizeof gpu->bus)
            continue;
        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/vendor", bus);
        const unsigned long maker = strtoul(line, NULL, 16);

        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/class", bus);
        const unsigned long is = strtoul(line, NULL, 16);

        /* It is a display controller or a processing accelerator, of NVIDIA or AMD. The console of
         * a server is of another vendor. */
        if ((maker != 0x10de && maker != 0x1002) || (is >> 16 != 0x03 && is >> 8 != 0x1200))
            continue;
        ++n;
        while (known < node->n_gpus && strcmp(node->gpu[known].bus, bus) != 0)
            ++known;
        if (known < node->n_gpus || !(gpu = sysfs_next_gpu(node)))
            continue;
        memcpy(gpu->bus, bus, strlen(bus) + 1);
        snprintf(gpu->absent, sizeof gpu->absent, "%s: all but the PCI link", absent);
        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/device", bus);
        snprintf(gpu->model, sizeof gpu->model, "PCI %04lx:%04lx", maker & 0xffff,
                 strtoul(line, NULL, 16) & 0xffff);
        gpu->numa_node = sysfs_numa(sys, bus);
        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/max_link_speed", bus);
        gpu->pcie_generation_max = generation_of(line);
        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/max_link_width", bus);
        gpu->pcie_width_max = sysfs_number(line);
        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/current_link_speed", bus);
        gpu->reading.pcie_generation = generation_of(line);
        sysfs_line(sys, line, "/sys/bus/pci/devices/%s/current_link_width", bus);
        gpu->reading.pcie_width = sysfs_number(line);
    }
    closedir(folder);
    return n;
}

/* ---- network ports ------------------------------------------------------------------------- */

struct nics {
    struct sysfs *sys;
    struct record_nic *nic;
    int n, most;
};

/* Reads the card of CLASS/NAME; its address is in a line "PCI_SLOT_NAME=0000:18:00.0" of a file. */
static void read_card(const struct nics *nics, const char *class, const char *name,
                      struct record_nic *nic)
{
    char path[PATH_BYTES], line[LINE_BYTES], slot[128];
    static const char key[] = "PCI_SLOT_NAME=";
    struct sysfs *sys = nics->sys;
    FILE *file;

    record_unknown(record_nic_fields, nic);
    snprintf(path, sizeof path, "%.255s/sys/class/%.20s/%.100s/device/uevent", nics->sys->root,
             class, name);
    nic->bus[0] = '\0';
    file = machine_open(path, &sys->status);
    while (file && fgets(slot, sizeof slot, file))
        if (strncmp(slot, key, sizeof key - 1) == 0) {
            slot[strcspn(slot, "\n")] = '\0';
            text_clean(slot, ' ');
            snprintf(nic->bus, sizeof nic->bus, "%.15s", slot + sizeof key - 1);
        }
    if (file && ferror(file))
        sys->status = -1;
    if (file)
        fclose(file);
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
