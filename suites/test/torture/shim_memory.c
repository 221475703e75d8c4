/* shim_memory.c: is preloaded. The n-th allocation fails that one process of a command makes
 * itself, or through jansson or libc. shim_system.c does the same for calls of the system.
 *
 * TORTURE_CALLS names the file with the fault_page. The return address tells the caller. Other
 * programs that the command starts are left alone. */
#include "shim_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OBJECTS = 64 };

/* glibc's own names of the functions that are replaced here. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

struct object {
    uintptr_t begin, end, base;
    enum fault_kind kind;
};

static struct object objects[OBJECTS];
static int n_objects;
static struct fault_page *page; /* NULL: nothing is counted */
static int process;
static _Thread_local bool for_jansson, for_other;

static const struct {
    const char *name;
    enum fault_kind kind;
} libraries[] = {{"/libjansson.", FAULT_JANSSON},
                 {"/libc.", FAULT_LIBC},
                 {"/libc-", FAULT_LIBC},
                 {"/ld-linux", FAULT_LIBC}};

static enum fault_kind kind_of(const char *name)
{
    if (name[0] == '\0')
        return FAULT_OWN;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; ++i)
        if (strstr(name, libraries[i].name))
            return libraries[i].kind;
    return FAULT_NONE;
}

static void note_code(uintptr_t begin, uintptr_t end, uintptr_t base, enum fault_kind kind)
{
    if (n_objects < OBJECTS && begin < end)
        objects[n_objects++] = (struct object){begin, end, base, kind};
}

/* The code of the runtime does not count as the program's. */
static int note_object(struct dl_phdr_info *info, size_t bytes, void *runtime)
{
    const enum fault_kind kind = kind_of(info->dlpi_name);
    const uintptr_t base = info->dlpi_addr;
    const struct code_range *without = runtime;

    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum && kind != FAULT_NONE; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = base + part->p_vaddr, end = begin + part->p_memsz;
        const bool cut =
            kind == FAULT_OWN && begin < base + without->begin && base + without->end < end;

        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        note_code(begin, cut ? base + without->begin : end, base, kind);
        if (cut)
            note_code(base + without->end, end, base, kind);
    }
    return 0;
}

static const struct object *object_of(const void *caller)
{
    for (int i = 0; i < n_objects; ++i)
        if ((uintptr_t)caller >= objects[i].begin && (uintptr_t)caller < objects[i].end)
            return &objects[i];
    return NULL;
}

int fault_next_process(void)
{
    return !page ? 0 : atomic_fetch_add(&page->n_processes, 1);
}

void fault_become(int number)
{
    process = number;
    if (page && number < FAULT_PROCESSES)
        page->in[number].pid = getpid();
    if (number >= FAULT_PROCESSES)
        page = NULL;
}

/* Counts a call of this kind. Returns its errno if it is the one that shall fail, otherwise 0. */
static int fault_of(enum fault_kind kind, const void *caller)
{
    const struct object *object;
    uint32_t n;

    if (!page || kind == FAULT_NONE)
        return 0;
    n = atomic_fetch_add(&page->in[process].calls[kind], 1) + 1;
    if (page->n == 0 || (int)kind != page->kind || process != page->process ||
        (page->stays ? n < page->n : n != page->n))
        return 0;
    object = object_of(caller);
    if (atomic_fetch_add(&page->done, 1) == 0)
        page->where = (uintptr_t)caller - (object == NULL ? 0 : object->base);
    return page->error;
}

int fault_of_own(enum fault_kind kind, const void *caller)
{
    const struct object *object = !page ? NULL : object_of(caller);

    return object && (object->kind == FAULT_OWN || object->kind == FAULT_JANSSON)
               ? fault_of(kind, caller)
               : 0;
}

static bool fails(const void *caller)
{
    const struct object *object = !page ? NULL : object_of(caller);
    const int error =
        !object || for_other ? 0 : fault_of(for_jansson ? FAULT_JANSSON : object->kind, caller);

    if (error != 0)
        errno = error;
    return error != 0;
}

void *malloc(size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (fails(__builtin_return_address(0)))
        return ENOMEM;
    *memory = __libc_memalign(alignment, bytes);
    return *memory == NULL ? ENOMEM : 0;
}

/* Allocations of libc for hwloc are left out, too: hwloc treats a folder that cannot be opened as
 * missing. */
int hwloc_topology_load(void *topology)
{
    int (*next)(void *);
    void *const found = dlsym(RTLD_NEXT, "hwloc_topology_load");
    int status;

    memcpy(&next, &found, sizeof next);
    for_other = true;
    status = next(topology);
    for_other = false;
    return status;
}

/* Allocations of jansson through the program still count as jansson's. */
static void *(*program_malloc)(size_t);

static void *jansson_malloc(size_t bytes)
{
    void *memory;

    for_jansson = true;
    memory = program_malloc(bytes);
    for_jansson = false;
    return memory;
}

void json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *))
{
    void (*set)(void *(*)(size_t), void (*)(void *));
    void *const found = dlsym(RTLD_NEXT, "json_set_alloc_funcs");

    memcpy(&set, &found, sizeof set);
    program_malloc = allocate;
    set(jansson_malloc, release);
}

/* Returns the number that the process had before it executed another program; the first has none
 * yet. */
static int number_here(struct fault_page *at)
{
    const int n = at->n_processes < FAULT_PROCESSES ? at->n_processes : FAULT_PROCESSES;

    for (int i = 0; i < n; ++i)
        if (at->in[i].pid == getpid())
            return i;
    return n == 0 ? at->n_processes++ : FAULT_PROCESSES;
}

__attribute__((constructor)) static void shim_begin(void)
{
    const char *path = getenv("TORTURE_CALLS");
    char name[512] = "";
    const ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
    const char *slash = length > 0 ? strrchr(name, '/') : NULL;
    const int file = !path || !slash || strcmp(slash, "/lockstep") != 0
                         ? -1
                         : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    struct code_range runtime;
    struct fault_page *at;

    if (file < 0)
        return;
    at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (at == MAP_FAILED)
        return;
    runtime = code_of_runtime();
    dl_iterate_phdr(note_object, &runtime);
    process = number_here(at);
    page = at;
    fault_become(process);
}
