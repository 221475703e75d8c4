/* nccl_tests.c: tests of command lines of nccl-tests as options of a sweep. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "sweep/sweep.h"

/* Returns "collective=allreduce type=f32 ...", or the reason of the error. */
static const char *messages(const char *command)
{
    static char text[2048];
    struct nccl_options options;
    struct text_error why = {""};

    text[0] = '\0';
    if (nccl_tests_options(command, &options, &why)) {
        snprintf(text, sizeof text, "%s", why.text);
        return text;
    }
    for (size_t i = 0; i < options.n; ++i)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s", i > 0 ? " " : "",
                 options.row[i].name, options.row[i].value);
    return text;
}

static void means(const char *command, const char *options)
{
    cr_expect(strcmp(messages(command), options) == 0, "%s: %s", command, messages(command));
}

static void nccl_tests_refused(const char *command, const char *reason)
{
    cr_expect(strncmp(messages(command), reason, strlen(reason)) == 0, "%s: %s", command,
              messages(command));
}

Test(nccl_tests, what_it_means)
{
    static const struct {
        const char *command, *options;
    } rows[] = {{"./build/all_reduce_perf -b 8 -e 128 -f 4 -g 2",
                 "collective=allreduce type=f32 counts=2 out-of-place=0,1 sizes=8,32,128"},
                {"all_reduce_perf -g 2", "collective=allreduce type=f32 counts=2 out-of-place=0,1 "
                                         "sizes=33554432"},
                {"broadcast_perf -b1K -e3k -i 1K -t 2 -g 2 -d double",
                 "collective=broadcast type=f64 counts=4 out-of-place=0,1 sizes=1024,2048,3072"},
                {"all_gather_perf --minbytes 8 --maxbytes=64 --stepfactor=2 --ngpus 4 -d int32",
                 "collective=allgather type=i32 counts=4 out-of-place=0,1 sizes=16,32,64"},
                {"reduce_scatter_perf -b 1M -e 1M -g 3 -n 100 -w 5 -o sum -a 3",
                 "collective=reducescatter type=f32 counts=3 out-of-place=0,1 sizes=1048584 "
                 "steps=100:100 warmup=5:0"},
                {"alltoall_perf -b 1G -e 1G -g 2 -d bfloat16 -p 1",
                 "collective=alltoall type=bf16 counts=2 out-of-place=1 sizes=1073741824"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        means(rows[i].command, rows[i].options);
}

Test(nccl_tests, what_cannot_be_had)
{
    static const struct {
        const char *command, *reason;
    } rows[] = {
        {"", "'' is no program of nccl-tests that is known here; known are all_reduce_perf, "
             "broadcast_perf, all_gather_perf, reduce_scatter_perf, alltoall_perf"},
        {"mpirun -np 2 all_reduce_perf", "'mpirun' is no program"},
        {"sendrecv_perf -g 2", "'sendrecv_perf' is no program"},
        {"all_reduce_perf", "one rank has nobody to talk to"},
        {"all_reduce_perf -g", "-g needs a value"},
        {"all_reduce_perf -g 2 --ngpus 2", "-g is given twice"},
        {"all_reduce_perf -g 2 -J x.json", "'-J' is not known here; known are -b -e -i"},
        {"all_reduce_perf -g 2 --check_me 1", "'--check_me' is not known here"},
        {"all_reduce_perf -g 2 8", "'8' is not known here"},
        {"all_reduce_perf -g 2 -c 0", "-c 0: every iteration is checked here"},
        {"all_reduce_perf -g 2 -c 0x", "-c 0x: every iteration is checked here"},
        {"all_reduce_perf -g 2 -o max", "-o max: only sum can be had"},
        {"all_reduce_perf -g 2 -m 20", "-m 20: only 1 can be had, because each iteration is timed"},
        {"all_reduce_perf -g 2 -d half", "-d half: known are float, double, int32, bfloat16"},
        {"all_reduce_perf -g 2 -b 16 -e 8", "-e 8 is less than -b 16"},
        {"all_reduce_perf -g 2 -b 1.5M", "-b 1.5M: not a whole number of 1 to"},
        {"all_reduce_perf -g 2 -b 0", "-b 0: not a whole number of 1 to"},
        {"all_reduce_perf -g 2 -b 8 -e 1T", "-e 1T: not a whole number"},
        {"all_reduce_perf -g 2 -b 8 -e 1G", "more than 64 sizes of 8 to 1073741824 bytes"},
        {"all_reduce_perf -g 1000000", "-g: \"1000000\" is outside 1 to"},
        {"all_reduce_perf -g 2 -n x", "-n: \"x\" is not a whole number"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        nccl_tests_refused(rows[i].command, rows[i].reason);
}

/* Tries the largest size, the largest number of sizes, and one more. */
Test(nccl_tests, bounds)
{
    means("all_reduce_perf -g 2 -b 1024G -e 1024G -f 1099511627776",
          "collective=allreduce type=f32 counts=2 out-of-place=0,1 sizes=1099511627776");
    cr_expect(strstr(messages("all_reduce_perf -g 2 -b 4 -e 256 -i 4"), ",252,256"), "64 sizes");
    nccl_tests_refused("all_reduce_perf -g 2 -b 4 -e 260 -i 4",
                       "more than 64 sizes of 4 to 260 bytes");
}
