/* machine/nvml.c: opens NVML, and finds its functions by name. */
#include "machine/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "text/text.h"

#define CALL_ROW(index, name, older, needed) [NODE_##index] = {name, older, needed},
static const struct {
    const char *name, *older;
    bool needed;
} calls[NODE_CALLS] = {NODE_EACH_CALL(CALL_ROW)};

static node_function *find_symbol(void *library, const char *name)
{
    void *const symbol = name ? dlsym(library, name) : NULL;
    node_function *function = NULL;

    /* ISO C has no cast from a pointer to an object to one to a function. */
    memcpy(&function, &symbol, sizeof function);
    return function;
}

static void read_version(const struct node_nvml *nvml, enum node_call call, char text[40])
{
    typedef int version_function(char *, unsigned);
    char version[96] = "";

    if (!nvml->call[call] ||
        ((version_function *)nvml->call[call])(version, sizeof version - 1) != NVML_SUCCESS)
        version[0] = '\0';
    text_clean(version, ' ');
    snprintf(text, 40, "%.38s", version[0] != '\0' ? version : "unknown");
}

int node_nvml_open(const char *path, struct node_nvml *nvml, char why[160])
{
    typedef int init_function(void);
    typedef const char *string_function(int);

    *nvml = (struct node_nvml){.library = dlopen(path ? path : "libnvidia-ml.so.1",
                                                 RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (!nvml->library) {
        const char *text = dlerror();

        snprintf(why, 160, "no NVML: %.140s", text ? text : "libnvidia-ml.so.1");
        text_clean(why, ' ');
        /* dlerror has no code for a lack of memory, only the words of the C library. If it has no
         * memory even for these words, the text names no file. */
        return strstr(why, "out of memory") || !text || !strstr(text, ": ") ? -2 : -1;
    }
    const char *missing = NULL; /* the first name that is needed and missing */

    for (int i = 0; i < NODE_CALLS; ++i) {
        nvml->call[i] = find_symbol(nvml->library, calls[i].name);
        if (!nvml->call[i])
            nvml->call[i] = find_symbol(nvml->library, calls[i].older);
        if (!nvml->call[i] && calls[i].needed && !missing)
            missing = calls[i].name;
    }
    const int status = missing ? -1 : ((init_function *)nvml->call[NODE_INIT])();

    if (status == NVML_SUCCESS) {
        read_version(nvml, NODE_NVML_VERSION, nvml->version);
        read_version(nvml, NODE_DRIVER_VERSION, nvml->driver);
        return 0;
    }
    string_function *const words = (string_function *)nvml->call[NODE_ERROR_STRING];
    const char *text = words && !missing ? words(status) : NULL;

    if (missing)
        snprintf(why, 160, "this NVML cannot be used: it has no %s", missing);
    else
        snprintf(why, 160, "NVML cannot be used: %.100s (%d)", text ? text : "no reason", status);
    text_clean(why, ' ');
    dlclose(nvml->library);
    nvml->library = NULL;
    return -1;
}

void node_nvml_close(struct node_nvml *nvml)
{
    typedef int shutdown_function(void);

    if (!nvml->library)
        return;
    ((shutdown_function *)nvml->call[NODE_SHUTDOWN])();
    dlclose(nvml->library);
    nvml->library = NULL;
}

int node_nvml_count(const struct node_nvml *nvml)
{
    typedef int count_function(unsigned *);
    unsigned n = 0;

    return ((count_function *)nvml->call[NODE_COUNT])(&n) == NVML_SUCCESS && n < 4096 ? (int)n : -1;
}

int node_nvml_device(const struct node_nvml *nvml, int index, node_device *device)
{
    typedef int handle_function(unsigned, node_device *);

    return ((handle_function *)nvml->call[NODE_HANDLE])((unsigned)index, device);
}

void node_pci_words(const struct nvml_pci *pci, char bus[16])
{
    snprintf(bus, 16, "%04x:%02x:%02x.0", pci->domain & 0xffff, pci->bus & 0xff,
             pci->device & 0xff);
}

int node_nvml_bus(const struct node_nvml *nvml, node_device device, char bus[16])
{
    typedef int pci_function(node_device, struct nvml_pci *);
    struct nvml_pci pci = {.bus = 0};
    const int status = ((pci_function *)nvml->call[NODE_PCI])(device, &pci);

    bus[0] = '\0';
    if (status == NVML_SUCCESS)
        node_pci_words(&pci, bus);
    return status;
}
