/* guard.c: keeps the program from host memory that a device works on, by the protection of pages,
 * and explains a fault when the program touches device memory.
 *
 * A page may hold more than the memory in use. The first touch of the rest makes the page free: a
 * touch of the forbidden part of that page is then not seen until the next operation. */
#include "fake.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction previous;

#if defined(__x86_64__)
static bool was_write(const void *context)
{
    const ucontext_t *state = context;
    return (state->uc_mcontext.gregs[REG_ERR] & 2) != 0;
}
#else
static bool was_write(const void *context)
{
    (void)context;
    return true;
}
#endif

static char *page_of(const char *address, size_t page)
{
    return (char *)((uintptr_t)address / page * page);
}

static void close_pages(const struct fake_area *area, int protection)
{
    char *first = page_of(area->lo, (size_t)sysconf(_SC_PAGESIZE));
    mprotect(first, (size_t)(area->lo + fake_area_span(area) - first), protection);
}

void fake_guard(struct fake_block *block, const struct fake_access *access)
{
    if (!(access->use & FAKE_WRITE))
        close_pages(&access->area, PROT_READ);
    for (size_t i = 0; i < block->records; ++i)
        if (block->record[i].use & FAKE_WRITE)
            close_pages(&block->record[i].area, PROT_NONE);
    fake.guarded += !block->guarded;
    block->guarded = true;
}

void fake_guard_lift(void)
{
    for (size_t i = 0; i < fake.blocks; ++i) {
        struct fake_block *block = fake.block[i];
        if (!block->guarded || fake_order_open(block))
            continue;
        mprotect(block->face, block->span, PROT_READ | PROT_WRITE);
        block->guarded = false;
        --fake.guarded;
    }
}

/* Returns false if the address is not one of the fake's. */
static bool guard_explain(char *address, bool write)
{
    struct fake_block *block = fake_find(address);
    const int device = fake_device_of(address);
    if (block && block->live && block->device == FAKE_HOST) {
        const struct fake_area byte = fake_area(address, 1, 1, 1);
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        fake_order_open(block);
        for (size_t i = 0; i < block->records; ++i) {
            const struct fake_record *record = &block->record[i];
            if (!((record->use & FAKE_WRITE) || write) || !fake_area_meets(&record->area, &byte))
                continue;
            fake_violation("the program %s pinned host memory at %p that %s (device %d, stream %d) "
                           "%s, and has not waited for it",
                           write ? "writes" : "reads", (void *)address, record->name,
                           record->device, record->stream,
                           record->use & FAKE_WRITE ? "writes" : "reads");
            break;
        }
        mprotect(page_of(address, page), page, PROT_READ | PROT_WRITE);
        return true;
    }
    if (!block && device == FAKE_HOST)
        return false;
    fake_violation("%s %s %p, which is %s%s", fake_me.running ? fake_me.running : "the program",
                   write ? "writes" : "reads", (void *)address,
                   device == FAKE_HOST ? "pinned host memory" : "device memory",
                   block && !block->live ? " that was freed" : "");
    _exit(FAKECUDA_EXIT);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    const bool inside = fake_me.inside;
    if (!inside)
        fake_lock();
    const bool ours = fake.started && guard_explain(info->si_addr, was_write(context));
    if (!inside)
        fake_unlock();
    if (!ours)
        sigaction(SIGSEGV, &previous, NULL); /* it faults again, and is handled as ever */
}

void fake_guard_install(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    if (fake.handler)
        return;
    fake.handler = true;
    action.sa_sigaction = on_fault;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous);
}
