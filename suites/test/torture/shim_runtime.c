/* shim_runtime.c: finds the CUDA runtime in the program, which is linked with it. The runtime
 * crashes at allocations that fail, which no caller can avoid.
 *
 * The linker keeps a library in one piece, so that piece is the code around one of its functions,
 * up to the program's next function on either side. */
#include "shim_calls.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A function of the runtime that every program calls, and the prefix of the runtime's own symbols.
 */
static const char anchor[] = "cudaGetDeviceCount";
static const char *const prefixes[] = {"cuda", "__cuda", "libcudart_static_"};

struct functions {
    const Elf64_Sym *symbol;
    size_t n;
    const char *names;
};

static bool of_runtime(const char *name)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; ++i)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_function(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value != 0;
}

/* Reads the functions of a file that the linker wrote; n is 0 if its symbols were stripped. */
static struct functions read_functions(const char *file)
{
    const Elf64_Ehdr *head = (const void *)file;
    const Elf64_Shdr *section = (const void *)(file + head->e_shoff);

    for (int i = 0; i < head->e_shnum; ++i)
        if (section[i].sh_type == SHT_SYMTAB)
            return (struct functions){
                (const void *)(file + section[i].sh_offset),
                section[i].sh_size / sizeof(Elf64_Sym),
                file + section[section[i].sh_link].sh_offset,
            };
    return (struct functions){0};
}

static struct code_range around_anchor(const struct functions *f)
{
    struct code_range range = {0, UINTPTR_MAX};
    uintptr_t at = 0;

    for (size_t i = 0; i < f->n; ++i)
        if (is_function(&f->symbol[i]) && strcmp(f->names + f->symbol[i].st_name, anchor) == 0)
            at = f->symbol[i].st_value;
    if (at == 0)
        return (struct code_range){0, 0};
    for (size_t i = 0; i < f->n; ++i) {
        const Elf64_Sym *s = &f->symbol[i];

        if (!is_function(s) || of_runtime(f->names + s->st_name))
            continue;
        if (s->st_value < at && s->st_value + s->st_size > range.begin)
            range.begin = s->st_value + s->st_size;
        if (s->st_value > at && s->st_value < range.end)
            range.end = s->st_value;
    }
    return range;
}

struct code_range code_of_runtime(void)
{
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct code_range range = {0, 0};
    struct stat about;
    void *bytes = MAP_FAILED;

    if (file >= 0 && fstat(file, &about) == 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
        const struct functions functions = read_functions(bytes);

        range = around_anchor(&functions);
        munmap(bytes, (size_t)about.st_size);
    }
    if (file >= 0)
        close(file);
    return range;
}
