/* calls_page.h: shared by torture_calls and the preloaded shim_memory.c: the calls that can be made
 * to fail, and a page of memory with the one that shall fail and how often each was called.
 *
 * A point is the n-th call of a kind in one of a command's processes, which are numbered in the
 * order in which they were forked. Allocations of hwloc, and libc's for it, are left out, and those
 * of the CUDA runtime: hwloc 2.9 and CUDA 13 themselves crash at many that fail. */
#ifndef TORTURE_CALLS_PAGE_H
#define TORTURE_CALLS_PAGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum { FAULT_PROCESSES = 64 };

enum fault_kind {
    FAULT_OWN, /* allocations, by their caller */
    FAULT_JANSSON,
    FAULT_LIBC,
    FAULT_WRITE, /* from here on calls that the program makes */
    FAULT_READ,
    FAULT_FSYNC,
    FAULT_OPEN,
    FAULT_CLOSE,
    FAULT_RENAME,
    FAULT_FORK,
    FAULT_PIPE,
    FAULT_POLL,
    FAULT_THREAD,
    FAULT_STDIO, /* the stream's disk is full from here on */
    FAULT_UNLINK,
    FAULT_WAIT,
    FAULT_STREAM, /* the file of a stream cannot be read from here on */
    FAULT_KINDS,
    FAULT_NONE = FAULT_KINDS /* allocations of others are not counted */
};

struct fault_process {
    _Atomic pid_t pid;
    _Atomic uint32_t calls[FAULT_KINDS];
};

struct fault_page {
    /* The plan. */
    int32_t process, kind, error;
    uint32_t n;    /* from 1; 0: none fails */
    int32_t stays; /* the calls after it fail, too */
    /* The results. */
    _Atomic int32_t n_processes, done;
    _Atomic uintptr_t where; /* the first that failed: the offset of the call in its object file */
    struct fault_process in[FAULT_PROCESSES];
};

#endif
