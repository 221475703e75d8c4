/* bugs.c: runs every bug of the ring in every mode and shows which modes find it. Late execution
 * with the check of the order must find each, with the right sentence; no mode may report a bug in
 * the right program. */
#include "ring.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODES        5
#define RANDOM_SEEDS 5
#define RIGHT_SEEDS  100
#define BY_SENTENCE  4
#define RIGHT_WORDS  8

static const struct bug {
    const char *what, *sentence;
} bugs[RING_BUGS] = {
    [RING_COMM_DOES_NOT_WAIT] = {"communication does not wait for computation", "race: "},
    [RING_COMPUTE_DOES_NOT_WAIT] = {"computation does not wait for communication", "race: "},
    [RING_EVENT_ON_WRONG_STREAM] = {"event recorded on the wrong stream", "race: "},
    [RING_EVENT_TOO_EARLY] = {"event recorded an operation too early", "race: "},
    [RING_WAIT_BEFORE_RECORD] = {"event waited for before it is recorded", "race: "},
    [RING_NO_WAIT_BEFORE_PEER_COPY] = {"no wait for the peer before copying from it", "race: "},
    [RING_NO_WAIT_BEFORE_PEER_READ] = {"no wait for the peer before reading its memory", "race: "},
    [RING_OVERWRITES_WHAT_A_PEER_READS] = {"overwrites what a peer still copies", "race: "},
    [RING_HOST_READS_TOO_EARLY] = {"host reads pinned memory before waiting", "the program reads"},
    [RING_HOST_WRITES_TOO_EARLY] = {"host writes pinned memory that is in use",
                                    "the program writes"},
    [RING_BLAS_STREAM_NOT_SET] = {"cuBLAS stream not set", "the default stream is used"},
    [RING_BLAS_OTHER_STREAM] = {"cuBLAS on the other stream", "race: "},
    [RING_WORKSPACE_SHARED] = {"two streams share a cuBLAS workspace", "race: cublasSgemm"},
    [RING_FREES_IN_WRONG_ORDER] = {"frees memory after waiting for the wrong stream",
                                   "is still used"},
    [RING_FREES_PINNED_TOO_EARLY] = {"frees pinned memory that is in use", "is still used"},
    [RING_NEVER_WAITS] = {"never waits for its results", "is still used"},
    [RING_WRONG_DEVICE_AT_LAUNCH] = {"wrong device current at a kernel launch", "is current"},
    [RING_WRONG_DEVICE_AT_GEMM] = {"wrong device current at a matrix product", "is current"},
    [RING_EVENT_OF_OTHER_DEVICE] = {"event of another device", "is recorded in stream"},
    [RING_PEER_NUMBERS_SWAPPED] = {"device numbers of a peer copy swapped", "the call says"},
    [RING_HOST_POINTER_IN_KERNEL] = {"host pointer given to a kernel", "host memory that CUDA"},
    [RING_HOST_POINTER_IN_GEMM] = {"host pointer given to cuBLAS", "host memory that CUDA"},
    [RING_HOST_READS_DEVICE] = {"host reads a device pointer", "the program reads"},
    [RING_COPY_KIND_REVERSED] = {"direction of a copy reversed", "the kind says"},
    [RING_NO_PEER_ACCESS] = {"peer access not enabled", "no peer access"},
    [RING_DEFAULT_STREAM] = {"default stream used", "the default stream is used"},
    [RING_COPY_TOO_LONG] = {"copy one element too long", "run over the end"},
    [RING_HOST_OVERRUN] = {"host writes past pinned memory", "were overrun"},
    [RING_NEVER_INITIALISED] = {"memory never initialised", "never written"},
    [RING_USE_AFTER_FREE] = {"memory used after it was freed", "memory that was freed"},
    [RING_FREED_TWICE] = {"memory freed twice", "freed before"},
    [RING_LEAKS_MEMORY] = {"memory leaked", "leak: "},
    [RING_LEAKS_EVENT] = {"events leaked", "leak: "},
    [RING_GRAPH_STALE] = {"graph replayed after its memory was freed", "after the graph"},
    [RING_CAPTURE_WAITS] = {"waits during a capture", "forbidden during a stream capture"},
    [RING_CAPTURE_OTHER_THREAD] = {"capture ended by another thread", "by another thread"},
    [RING_CAPTURE_NOT_JOINED] = {"second stream of a capture not joined",
                                 "nothing waits for what a second stream does"},
};

static const struct mode {
    const char *name;
    enum fakecuda_mode mode;
    bool races;
    int seeds;
} modes[MODES] = {
    {"eager", FAKECUDA_EAGER, false, 1},    {"random", FAKECUDA_RANDOM, false, RANDOM_SEEDS},
    {"lazy", FAKECUDA_LAZY, false, 1},      {"eager+order", FAKECUDA_EAGER, true, 1},
    {"lazy+order", FAKECUDA_LAZY, true, 1},
};

static void bugs_start(const struct mode *mode, uint64_t seed)
{
    struct fakecuda_config config;
    fakecuda_defaults(&config);
    config.devices = RING_DEVICES;
    config.mode = mode->mode;
    config.races = mode->races;
    config.seed = seed;
    config.memory_bytes = 1u << 20;
    fakecuda_start(&config);
}

/* Returns bits of enum ring_result, BY_SENTENCE and RIGHT_WORDS. */
static int run_once(enum ring_bug bug, const struct mode *mode, uint64_t seed)
{
    char text[4096] = "";
    int status = 0;
    const int words = memfd_create("words", 0);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        /* Standard error of the child is kept, because some bugs end the process. */
        dup2(words, STDERR_FILENO);
        alarm(20);
        bugs_start(mode, seed);
        int verdict = ring_run(bug);
        if (fakecuda_finish() > 0)
            verdict |= BY_SENTENCE;
        _exit(verdict);
    }
    waitpid(pid, &status, 0);
    if (pread(words, text, sizeof text - 1, 0) < 0)
        text[0] = '\0';
    close(words);
    CHECK(WIFEXITED(status));
    int verdict = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (verdict == FAKECUDA_EXIT)
        verdict = BY_SENTENCE;
    char *end = strchr(text, '\n');
    if (end)
        *end = '\0';
    if (bugs[bug].sentence && strstr(text, bugs[bug].sentence))
        verdict |= RIGHT_WORDS;
    else if (mode->races && mode->mode == FAKECUDA_LAZY)
        fprintf(stderr, "%s: %s\n", bugs[bug].what, text);
    return verdict;
}

static const char *found_by(int verdict)
{
    if (verdict & BY_SENTENCE)
        return "sentence";
    if (verdict & RING_ERROR)
        return "error";
    return verdict & RING_WRONG ? "wrong" : "-";
}

static void test_every_bug(void)
{
    printf("%-48s", "bug; found by");
    for (int m = 0; m < MODES; ++m)
        printf(" %-11s", modes[m].name);
    printf("\n");
    for (int bug = 1; bug < RING_BUGS; ++bug) {
        int last = 0;
        printf("%-48s", bugs[bug].what);
        for (int m = 0; m < MODES; ++m) {
            int found = 0;
            for (int seed = 1; seed <= modes[m].seeds; ++seed) {
                last = run_once((enum ring_bug)bug, &modes[m], (uint64_t)seed);
                found += last != 0;
            }
            const int seeds = modes[m].seeds;
            if (seeds == 1)
                printf(" %-11s", found_by(last));
            else if (found == 0)
                printf(" %-11s", "-");
            else
                printf(" %3d of %-4d", found, seeds);
        }
        printf("\n");
        CHECK((last & BY_SENTENCE) && (last & RIGHT_WORDS));
    }
}

/* All runs are in one process, so that state that one of them leaves would show in the next. */
static void test_no_alarm(void)
{
    const struct mode checked[] = {{"lazy", FAKECUDA_LAZY, true, 0},
                                   {"eager", FAKECUDA_EAGER, true, 0},
                                   {"random", FAKECUDA_RANDOM, true, 0}};
    for (size_t m = 0; m < sizeof checked / sizeof *checked; ++m) {
        for (uint64_t seed = 1; seed <= RIGHT_SEEDS; ++seed) {
            bugs_start(&checked[m], seed);
            CHECK(ring_run(RING_NO_BUG) == RING_RIGHT);
            CHECK(fakecuda_finish() == 0);
        }
    }
}

/* Each call fails in turn: the program reports it, and nothing is leaked. */
static void test_every_failure(void)
{
    const struct mode mode = {"lazy", FAKECUDA_LAZY, true, 0};
    long calls = 1;
    for (long call = 0; call <= calls; ++call) {
        const struct fakecuda_failure failure = {.call = call};
        bugs_start(&mode, 1);
        fakecuda_fail(&failure);
        const int result = ring_run(RING_NO_BUG);
        if (call == 0)
            calls = fakecuda_calls(NULL);
        CHECK(result == (call == 0 ? RING_RIGHT : RING_ERROR));
        CHECK(fakecuda_finish() == 0);
    }
    CHECK(calls > 300);
    printf("%ld calls, each made to fail\n", calls);
}

static const struct test tests[] = {
    {"bugs/no-alarm", test_no_alarm},
    {"bugs/every-bug-is-found", test_every_bug},
    {"bugs/every-call-fails-once", test_every_failure},
};
const struct test_table bug_tests = {tests, sizeof tests / sizeof *tests};
