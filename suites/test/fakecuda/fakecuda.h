/* fakecuda.h: control of the fake CUDA runtime and cuBLAS. For tests only.
 *
 * The fake takes the place of libcudart and libcublas when a program is linked, so that the object
 * files of the CUDA backend run unchanged on 1 to 8 devices that do not exist. It executes late,
 * checks that everything that touches the same memory is ordered, and remembers every wrong use
 * (a violation). A process with a violation ends with FAKECUDA_EXIT, whatever it makes of it.
 *
 * A whole program is set up through its environment, read at the first call:
 *   LOCKSTEP_FAKE_GPUS        devices, 0 to 8 (1); CUDA_VISIBLE_DEVICES hides some of them
 *   LOCKSTEP_FAKE_MODE        lazy, eager or random (lazy)
 *   LOCKSTEP_FAKE_SEED        for the choices that are left open (1)
 *   LOCKSTEP_FAKE_RACES       0: no check of the order (1)
 *   LOCKSTEP_FAKE_PEER        0: no device can reach another's memory (1)
 *   LOCKSTEP_FAKE_PEERS       others whose memory one device can reach, 1 to 8 (8)
 *   LOCKSTEP_FAKE_MEMORY      MiB of each device (512)
 *   LOCKSTEP_FAKE_CAPABILITY  compute capability times ten (90)
 *   LOCKSTEP_FAKE_DRIVER      good, none, old or broken (good)
 *   LOCKSTEP_FAKE_INIT        error that all calls end with which need a driver (cudaSuccess)
 *   LOCKSTEP_FAKE_FAIL        CALL or FUNCTION:CALL: that call fails; CALL+: and all after it
 *   LOCKSTEP_FAKE_PATIENCE    ms after which a wait for another thread is a deadlock (5000)
 *   LOCKSTEP_FAKE_NCCL        version of NCCL, 22809 is 2.28.9 (22809)
 *   LOCKSTEP_FAKE_NCCL_POLLS  how often NCCL is asked before it does anything (2)
 *   LOCKSTEP_FAKE_NCCL_HANG   CALL: that collective never ends
 *   LOCKSTEP_FAKE_NCCL_ERROR  CALL: nor does that one, and NCCL says that a rank is lost
 *   LOCKSTEP_FAKE_NCCL_VARIES 1: sums of every collective are in another order (0)
 *   LOCKSTEP_FAKE_STOP        1: the first violation ends the process at once (0)
 *   LOCKSTEP_FAKE_EXCLUSIVE   folder for locks: one process at a time can use a device
 *   LOCKSTEP_FAKE_SUMMARY     file to which the process appends its number of calls and violations
 */
#ifndef LOCKSTEP_FAKECUDA_H
#define LOCKSTEP_FAKECUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKECUDA_EXIT    99 /* exit status of a process with a violation */
#define FAKECUDA_DEVICES 8
#define FAKECUDA_NAME    "Fake GPU" /* of every device: such results are simulated */

enum fakecuda_mode {
    FAKECUDA_LAZY,   /* an operation runs only when something that is waited for needs it */
    FAKECUDA_EAGER,  /* at once: the kindest GPU */
    FAKECUDA_RANDOM, /* any legal order */
};

/* The state of the driver that cudaGetDeviceCount finds. */
enum fakecuda_driver {
    FAKECUDA_DRIVER_GOOD,
    FAKECUDA_DRIVER_NONE,   /* not installed */
    FAKECUDA_DRIVER_OLD,    /* older than the runtime */
    FAKECUDA_DRIVER_BROKEN, /* installed, and fails */
};

/* The call-th call from now on of a function (NULL: of all) fails with error; 0: out of memory for
 * allocations, else an unknown error, and a launch failure for kernels. Waits and releases do their
 * work all the same, as far as the program can tell. */
struct fakecuda_failure {
    const char *function;
    long call;    /* from 1; 0: none */
    int error;    /* cudaError_t */
    bool lasting; /* and every call after it */
};

struct fakecuda_config {
    int devices;
    enum fakecuda_mode mode;
    enum fakecuda_driver driver;
    int init; /* cudaError_t of all calls that need a driver */
    uint64_t seed;
    bool races, peer, stop;
    bool quiet; /* violations are counted and kept, not printed */
    int peers;  /* of one device */
    size_t memory_bytes;
    int capability;
    unsigned patience_ms; /* a wait for other threads that lasts longer is a deadlock */
    struct fakecuda_failure failure;
    int nccl_version;
    unsigned nccl_polls;
    long nccl_hang, nccl_error; /* from 1; 0: none */
    bool nccl_varies;
};

/* The defaults, as the environment changes them. A bad value ends the process with status 2. */
struct fakecuda_config fakecuda_defaults(void);

/* Starts without objects and violations. Without this call, the first call of the API starts with
 * the defaults. */
void fakecuda_start(const struct fakecuda_config *config);

/* Reports leaks, frees everything, and returns the number of violations. The process may start
 * again. Called at exit if the program did not. */
int fakecuda_finish(void);
/* The same, but what is left is no leak. */
int fakecuda_finish_unreleased(void);

/* Returns the number of violations so far. */
int fakecuda_verdict(void);
/* Returns the sentence of the first violation since the last start; "" if there is none. */
const char *fakecuda_first(void);
/* Returns the number of calls of a function since the last start or fakecuda_fail; NULL: of all
 * functions that can fail. */
long fakecuda_calls(const char *function);
void fakecuda_fail(const struct fakecuda_failure *failure);

/* Operations with that name, of a call or of a kernel's launcher, take this much longer as the
 * later events of the stream measure it. Nothing sleeps: the clock of their stream is put forward.
 * NULL: none. */
void fakecuda_slow(const char *operation, uint64_t ns);
/* Calls visit before each call of a function, on the thread that makes the call: there a test can
 * hold it up while other threads work. Set it while no thread calls the API. NULL: no more. */
void fakecuda_visit(const char *function, void (*visit)(void *user), void *user);
/* A clock for a machine that does not exist: it computes how long a machine with these rates would
 * take for the calls, and for the operations put into streams, from the start on. It is a model: it
 * knows shares of links, launches and calls, but no caches, no clock rates, and not which blocks
 * fit on a multiprocessor together. A collective of NCCL takes no time in it, and neither does the
 * program between calls. While the clock runs, no stream may be made; when it starts, no operation
 * may be pending. */
struct fakecuda_rates {
    double link, host, memory, arithmetic; /* of one device: bytes per second that come from others,
                                              and as many that go to them; that come from or go to
                                              the host; of its memory; operations per second */
    uint64_t launch_ns, call_ns; /* before an operation begins on its device; of every call */
};
struct fakecuda_time {
    double ns;              /* infinite: something waits for what never comes */
    long calls;             /* of all threads */
    long operations, syncs; /* of the devices; waits of the host */
};
void fakecuda_clock_start(const struct fakecuda_rates *rates);
struct fakecuda_time fakecuda_clock_stop(void);

/* The wait-th cudaStreamWaitEvent from now on that would make a stream wait does nothing; 0: none.
 * The check of the order must find that, or the wait was not needed. */
void fakecuda_drop_wait(long wait);
/* Returns the number of operations in streams that have not run. */
long fakecuda_pending(void);
/* Returns the number of streams with a priority, 0 to -5, which is the highest. */
int fakecuda_streams(int priority);

#endif
