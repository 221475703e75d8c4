/* decorated.c: suffixes of a device list: how they are read, and that each wraps devices of any
 * kind, alone and with the others. */
#include "backend.h"
#include "list.h"

#include <string.h>
#include <time.h>

enum { COUNT = 5 };

static struct dp_group *open_with(struct context *c, const char *suffixes)
{
    char devices[320];
    struct dp_group *group = NULL;
    device_list(&c->settings, 2, devices);
    strncat(devices, suffixes, sizeof devices - strlen(devices) - 1);
    const struct dp_group_config config = {
        .devices = devices, .backend = c->settings.backend, .lag_seed = c->settings.lag_seed};
    return opened_group(c, dp_group_open(&config, &group, &c->err), &group);
}

static void parsed(struct context *c)
{
    static const struct {
        const char *text;
        int n;
        bool lag;
        uint64_t delay_ns, fault_at;
        enum dp_fault fault;
        uint64_t rate;
    } lists[] = {
        {"virt:4", 4, false, 0, 0, 0, 0},
        {"virt:4+lag", 4, true, 0, 0, 0, 0},
        {"virt:4+1us", 4, false, 1000, 0, 0, 0},
        {"virt:4+1000000us", 4, false, 1000000000, 0, 0, 0},
        {"virt:4+1MB/s", 4, false, 0, 0, 0, 1000000},
        {"virt:4+1000000MB/s+1us", 4, false, 1000, 0, 0, 1000000000000},
        {"virt:2+fault:alloc@1", 2, false, 0, 1, DP_FAULT_ALLOC, 0},
        {"virt:2+fault:poll@1000000000", 2, false, 0, 1000000000, DP_FAULT_POLL, 0},
        {"virt:2+lag+500us+fault:wait@7", 2, true, 500000, 7, DP_FAULT_WAIT, 0},
        {"virt:2+fault:wait@7+500us+lag", 2, true, 500000, 7, DP_FAULT_WAIT, 0},
        {"host", 0, false, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
        struct dp_device_list list;
        expect_ok(c, dp_devices_parse(lists[i].text, &list, &c->err), lists[i].text);
        expect(c, list.n == lists[i].n && list.lag == lists[i].lag, "devices of %s", lists[i].text);
        expect(c, list.delay_ns == lists[i].delay_ns && list.delay_rate == lists[i].rate,
               "delay of %s", lists[i].text);
        expect(c, list.fault_at == lists[i].fault_at && list.fault == lists[i].fault, "fault of %s",
               lists[i].text);
    }
}

static void harmed(struct context *c)
{
    static const struct {
        const char *text;
        struct dp_silent_fault_spec want;
    } lists[] = {
        {"virt:2+fault:flip@37/1", {DP_SILENT_FAULT_FLIP, 37, 1, 0, 0}},
        {"virt:64+fault:flips@1000000000/63", {DP_SILENT_FAULT_FLIPS, 1000000000, 63, 0, 0}},
        {"virt:2+500us+fault:slow@1/0/5", {DP_SILENT_FAULT_SLOW, 1, 0, 5, 0}},
        {"virt:2+fault:slow@3/1", {DP_SILENT_FAULT_SLOW, 3, 1, 0, 0}},
        {"virt:3+fault:link@1/2/50", {DP_SILENT_FAULT_LINK, 1, 2, 50, 0}},
        {"virt:1+fault:hang@1/0+1us", {DP_SILENT_FAULT_HANG, 1, 0, 0, 0}},
        {"virt:3+fault:copy-flip@9/2/0", {DP_SILENT_FAULT_COPY_FLIP, 9, 2, 0, 0}},
        {"virt:3+fault:copy-stale@2/0/2", {DP_SILENT_FAULT_COPY_STALE, 2, 0, 0, 2}},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
        struct dp_device_list list;
        expect_ok(c, dp_devices_parse(lists[i].text, &list, &c->err), lists[i].text);
        expect(c, list.fault_at == 0, "%s fails", lists[i].text);
        expect(c,
               list.silent_fault.silent_fault == lists[i].want.silent_fault &&
                   list.silent_fault.step == lists[i].want.step &&
                   list.silent_fault.device == lists[i].want.device &&
                   list.silent_fault.percent == lists[i].want.percent &&
                   list.silent_fault.to == lists[i].want.to,
               "fault of %s", lists[i].text);
    }
}

static void decorated_refused(struct context *c)
{
    static const struct {
        const char *text, *words;
    } lists[] = {
        {"virt:2+fault:lunch@3", "'lunch' is not an operation that can fail: alloc, launch, call"},
        {"virt:2+fault:@3", "'' is not an operation"},
        {"virt:2+fault:launc@3", "'launc' is not an operation"},
        {"virt:2+fault:launch", "+fault:launch@3"},
        {"virt:2+fault:launch@", "+fault:launch@3"},
        {"virt:2+fault:launch@0", "1 to 1000000000"},
        {"virt:2+fault:launch@-1", "1 to 1000000000"},
        {"virt:2+fault:launch@1x", "1 to 1000000000"},
        {"virt:2+fault:launch@1000000001", "1 to 1000000000"},
        {"virt:2+fault:launch@99999999999999999999", "1 to 1000000000"},
        {"virt:2+fault", "+fault:OPERATION@CALL"},
        {"virt:2+fault:flip@3", "+fault:flip@3/1"},
        {"virt:2+fault:flip@0/1", "in which step, 1 to 1000000000"},
        {"virt:2+fault:flip@3/", "on which device, 0 to 63"},
        {"virt:2+fault:flip@3/64", "on which device, 0 to 63"},
        {"virt:2+fault:flip@3/2", "a fault of device 2, there are 0 to 1"},
        {"virt:2+fault:flip@3/01x", "on which device"},
        {"virt:2+fault:flip@3/1/5", "on which device"},
        {"virt:1+fault:link@1/0", "a link takes two devices"},
        {"virt:2+fault:link@1/0/0", "+fault:link@3/1/5 by 5 %"},
        {"virt:2+fault:slow@3/1/0", "+fault:slow@3/1/5 by 5 %"},
        {"virt:2+fault:slow@3/1/10001", "+fault:slow@3/1/5 by 5 %"},
        {"virt:2+fault:copy-zero@3/1", "from which device to which other one, 0 to 63"},
        {"virt:2+fault:copy-zero@3/1/1", "like +fault:copy-zero@3/0/1"},
        {"virt:2+fault:copy-zero@3/0/1/5", "which copy, 1 to 1000000000"},
        {"virt:2+fault:copy-zero@3/1/2", "a fault of device 2, there are 0 to 1"},
        {"virt:2+lag+fault:nan@3/1", "+fault:nan@STEP/DEVICE is for virtual devices without +lag"},
        {"virt:2+fault:nan@3/1+fault:wait@1", "'+fault:wait@1' is the second of its kind"},
        {"virt:2+fault:wait@1+fault:nan@3/1", "'+fault:nan@3/1' is the second of its kind"},
        {"virt:2+late", "+1us to +1000000us"},
        {"virt:2+us", "+1us to +1000000us"},
        {"virt:2+0us", "+1us to +1000000us"},
        {"virt:2+-1us", "+1us to +1000000us"},
        {"virt:2+1000001us", "+1us to +1000000us"},
        {"virt:2+5ms", "+1us to +1000000us"},
        {"virt:2+", "+1us to +1000000us"},
        {"virt:2+lag+", "+1us to +1000000us"},
        {"virt:2+00000005us", "+1us to +1000000us"},
        {"virt:2+5usx", "+1us to +1000000us"},
        {"virt:2+lag+lag", "'+lag' is the second of its kind"},
        {"virt:2+1us+2us", "'+2us' is the second of its kind"},
        {"virt:2+1MB/s+2MB/s", "'+2MB/s' is the second of its kind"},
        {"virt:2+0MB/s", "+1MB/s to +1000000MB/s"},
        {"virt:2+1000001MB/s", "+1MB/s to +1000000MB/s"},
        {"virt:2+1MB", "+1MB/s to +1000000MB/s"},
        {"virt:2+fault:wait@1+fault:sync@1", "'+fault:sync@1' is the second of its kind"},
        {"virt:+lag", "a number of virtual devices is missing"},
        {"host+lag", "'host+lag': host, virt:COUNT, cuda:LIST; after devices also +lag"},
        {"virt", "'virt': host, virt:COUNT, cuda:LIST;"},
        {"virtual:2", "'virtual:2': host, virt:COUNT, cuda:LIST;"},
        {"cuda:0+lag", "+lag is not for GPUs"},
        {"cuda:0+500us+lag", "+fault:OPERATION@CALL"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i) {
        const struct dp_group_config config = {.devices = lists[i].text};
        struct dp_group *group = NULL;
        expect_error(c, dp_group_open(&config, &group, &c->err), DP_EINVAL, lists[i].words, NULL);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct pair {
    struct dp_tensor from, to;
};

static struct pair open_pair(struct context *c, struct dp_group *group)
{
    return (struct pair){make_tensor(c, dp_group_slot(group, 0), DP_F32, 1, (size_t[]){COUNT},
                                     sequence(c, COUNT, 1.0, 1.0)),
                         make_tensor(c, dp_group_slot(group, 1), DP_F32, 1, (size_t[]){COUNT},
                                     sequence(c, COUNT, 0.0, 0.0))};
}

/* A delay is never too short, and changes no bytes. */
static void delayed(struct context *c)
{
    struct dp_group *group = open_with(c, "+2000us");
    struct pair p = open_pair(c, group);
    struct dp_slot_info info;
    dp_slot_describe(dp_group_slot(group, 1), &info);
    expect(c, info.delay_ns == 2000000, "delay of %zu ns", (size_t)info.delay_ns);
    const double begin = seconds();
    expect_ok(c, dp_tensor_copy(&p.to, &p.from, &c->err), "copy");
    expect_ok(c, dp_group_wait(group, &c->err), "wait");
    expect(c, seconds() - begin >= 0.002, "a transfer of %d us took less", 2000);
    expect_values(c, "copied", &p.to, sequence(c, COUNT, 1.0, 1.0));
    expect(c, dp_group_faulty(group, &c->err) == 0, "nothing was to fail");
}

/* 40,000 bytes at 1 MB/s take 40 ms, plus the time of each operation. */
static void rated(struct context *c)
{
    enum { MANY = 10000 };
    struct dp_group *group = open_with(c, "+1MB/s+2000us");
    struct pair p = {make_tensor(c, dp_group_slot(group, 0), DP_F32, 1, (size_t[]){MANY},
                                 sequence(c, MANY, 1.0, 1.0)),
                     make_tensor(c, dp_group_slot(group, 1), DP_F32, 1, (size_t[]){MANY},
                                 sequence(c, MANY, 0.0, 0.0))};
    struct dp_slot_info info;
    dp_slot_describe(dp_group_slot(group, 1), &info);
    expect(c, info.delay_ns == 2000000 && info.delay_rate == 1000000, "delay of %zu ns, %zu/s",
           (size_t)info.delay_ns, (size_t)info.delay_rate);
    const double begin = seconds();
    expect_ok(c, dp_tensor_copy(&p.to, &p.from, &c->err), "copy");
    expect_ok(c, dp_group_wait(group, &c->err), "wait");
    expect(c, seconds() - begin >= 0.042, "a transfer of %d us took less", 42000);
    expect_values(c, "copied", &p.to, sequence(c, MANY, 1.0, 1.0));
}

static void fails_once(struct context *c)
{
    struct dp_group *group = open_with(c, "+fault:move@4+20us");
    struct pair p = open_pair(c, group);
    expect_error(c, dp_group_faulty(group, &c->err), DP_EFAULT,
                 "call 4 of move was to fail, but there were 0", NULL);
    for (int i = 1; i < 4; ++i)
        expect_ok(c, dp_tensor_copy(&p.to, &p.from, &c->err), "one before it");
    expect_error(c, dp_tensor_copy(&p.to, &p.from, &c->err), DP_EFAULT,
                 "call 4 of move fails on purpose", NULL);
    expect_ok(c, dp_tensor_copy(&p.to, &p.from, &c->err), "the one after it");
    expect_values(c, "copied", &p.to, sequence(c, COUNT, 1.0, 1.0));
    expect_error(c, dp_group_faulty(group, &c->err), DP_EFAULT, "call 4 of move failed on purpose",
                 NULL);
}

/* A delay does not count as a launch of the caller, so a fault hits the same launch with it and
 * without. */
static uint64_t calls_of_launch(struct context *c, const char *suffixes)
{
    case_release(c);
    struct dp_group *group = open_with(c, suffixes);
    struct pair p = open_pair(c, group);
    uint64_t n = 0;
    expect_ok(c, dp_tensor_copy(&p.to, &p.from, &c->err), "copy");
    expect_error(c, dp_group_faulty(group, &c->err), DP_EFAULT, "but there were ",
                 "call 1000000 of launch");
    const char *number = strstr(c->seen.text, "but there were ");
    for (number += number ? strlen("but there were ") : 0; number && *number; ++number)
        n = n * 10 + (uint64_t)(*number - '0');
    return n;
}

static void stacked(struct context *c)
{
    const uint64_t plain = calls_of_launch(c, "+fault:launch@1000000");
    expect(c, plain > 0, "%d launches", (int)plain);
    expect(c, calls_of_launch(c, "+fault:launch@1000000+1us") == plain, "not %d with a delay",
           (int)plain);
    expect(c, calls_of_launch(c, "+1us+fault:launch@1000000") == plain, "not %d behind a delay",
           (int)plain);
}

static int no_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                     struct dp_error *err)
{
    (void)kernel, (void)args, (void)bytes;
    return dp_fail(err, DP_EFAULT, "%s launches nothing", dp_slot_name(queue->slot));
}

/* An operation that runs late also fails late; then the caller that waits for anything gets the
 * error. */
static void fails_late(struct context *c)
{
    const struct dp_group_config config = {.devices = "virt:2"};
    struct dp_device_ops ops = dp_device_cpu;
    struct dp_group *group = NULL;
    ops.launch = no_launch;
    (void)opened_group(c, dp_group_open(&config, &group, &c->err), &group);
    for (int i = 0; i < 2; ++i)
        dp_group_slot(group, i)->ops = &ops;
    expect_ok(c, dp_lag_open(group, 0, &c->err), "late");
    const struct dp_delay_args delay = {1};
    expect_ok(c,
              dp_launch(&dp_group_slot(group, 1)->compute, DP_KERNEL_DELAY, &delay, sizeof delay,
                        &c->err),
              "a launch that runs later");
    expect(c, dp_lag_pending(group) == 1, "%d operations wait", (int)dp_lag_pending(group));
    for (int i = 0; i < 2; ++i)
        expect_error(c, dp_group_wait(group, &c->err), DP_EFAULT, "virt:1 launches nothing", NULL);
    expect(c, dp_lag_pending(group) == 0, "%d operations wait", (int)dp_lag_pending(group));
}

/* With a seed, operations run as late as possible, or work runs early, or copies run early, each
 * until nothing is left. */
static void late_orders(struct context *c)
{
    const struct dp_delay_args delay = {1};
    for (uint64_t seed = 0; seed <= 20; ++seed) {
        const struct dp_group_config config = {.devices = "virt:2+lag", .lag_seed = seed};
        struct dp_group *group = NULL;
        int rounds[3] = {0, 0, 0};
        expect_ok(c, dp_group_open(&config, &group, &c->err), "open");
        struct dp_slot *slot = dp_group_slot(group, 1);
        for (int round = 0; round < 32; ++round) {
            uint64_t left[2];
            dp_launch(&slot->compute, DP_KERNEL_DELAY, &delay, sizeof delay, &c->err);
            left[0] = dp_lag_pending(group);
            dp_launch(&slot->comm, DP_KERNEL_DELAY, &delay, sizeof delay, &c->err);
            left[1] = dp_lag_pending(group);
            expect_ok(c, dp_group_wait(group, &c->err), "wait");
            ++rounds[left[0] == 0 ? 0 : left[1]];
        }
        expect(c, seed == 0 ? rounds[2] == 32 : rounds[0] > 0 && rounds[1] > 0 && rounds[2] > 0,
               "seed %d: %d, %d and %d rounds of each kind", (int)seed, rounds[0], rounds[1],
               rounds[2]);
        dp_group_close(group);
    }
}

static const struct test_case cases[] = {
    {"decorated/late-orders", "ERR-08", late_orders},   {"decorated/parsed", "ERR-03", parsed},
    {"decorated/refused", "ERR-03", decorated_refused}, {"decorated/harmed", "ERR-03", harmed},
    {"decorated/delayed", "GATH-13", delayed},          {"decorated/rated", "GATH-13", rated},
    {"decorated/fails-once", "ERR-08", fails_once},     {"decorated/stacked", "ERR-08", stacked},
    {"decorated/fails-late", "ERR-08", fails_late},
};
const struct case_table decorated_cases = {cases, sizeof cases / sizeof cases[0]};
