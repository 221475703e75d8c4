/* device_list.c: the harness reads a device list without looking for the devices. */
#include <criterion/criterion.h>
#include <string.h>

#include "command/device_list.h"

Test(device_list, count)
{
    static const struct {
        const char *list;
        int n;
    } sample[] = {
        {"virt:4", 4},
        {"virt:4+lag", 4},
        {"virt:12+500us+fault:launch@3", 12},
        {"virt:", 0},
        {"virt:+lag", 0},
        {"virt:4x", 0},
        {"virt:04", 0},
        {"cuda:0", 1},
        {"cuda:0-3,5", 5},
        {"cuda:0,0+500us", 2},
        {"cuda:0-3+fault:move@1", 4},
        {"cuda:all", -1},
        {"cuda:all+500us", -1},
        {"cuda:", -1},
        {"cuda:+500us", -1},
        {"cuda:0,", -1},
        {"cuda:0,+500us", -1},
        {"cuda:3-1", -1},
        {"host", -1},
        {"mine:4", -1},
    };

    for (size_t i = 0; i < sizeof sample / sizeof *sample; ++i)
        cr_assert_eq(device_list_count(sample[i].list), sample[i].n, "%s", sample[i].list);
}

Test(device_list, first)
{
    static const struct {
        const char *list;
        size_t n;
        const char *first; /* NULL: there is none */
    } sample[] = {
        {"virt:8+lag", 3, "virt:3+lag"},
        {"virt:8+lag+500us+fault:launch@3", 1, "virt:1+lag+500us+fault:launch@3"},
        {"virt:2", 3, NULL},
        {"virt:x", 1, NULL},
        {"cuda:0-7", 3, "cuda:0-2"},
        {"cuda:4,0-1+500us", 2, "cuda:4,0+500us"},
        {"cuda:0-1+500us", 3, NULL},
        {"cuda:all+fault:move@1", 2, "cuda:0-1+fault:move@1"},
        {"host", 1, NULL},
    };
    char text[64];

    for (size_t i = 0; i < sizeof sample / sizeof *sample; ++i) {
        const int status = device_list_first(sample[i].list, sample[i].n, text, sizeof text);

        cr_assert_eq(status, sample[i].first ? 0 : -1, "%s", sample[i].list);
        if (sample[i].first)
            cr_assert_str_eq(text, sample[i].first);
    }
}

Test(device_list, first_fits)
{
    static const char list[] = "virt:8+lag";
    char text[16];

    memset(text, '#', sizeof text);
    cr_assert_eq(device_list_first(list, 8, text, sizeof list), 0);
    cr_assert_str_eq(text, list);
    cr_assert_eq(device_list_first(list, 8, text, sizeof list - 1), -1);
    cr_assert_eq(device_list_first(list, 8, text, 3), -1);
    cr_assert_eq(text[sizeof list], '#');
}

Test(device_list, suffixes)
{
    static const struct {
        const char *list, *kind;
        bool all, slowed, faulty;
    } sample[] = {
        {"virt:4", "virt", false, false, false},
        {"virt:4+lag", "virt+lag", false, false, false},
        {"virt:4+lag+500us", "virt+lag+500us", false, true, false},
        {"virt:4+500us+lag", "virt+500us+lag", false, true, false},
        {"virt:4+us", "virt+us", false, false, false},
        {"virt:4+900MB/s+lag", "virt+900MB/s+lag", false, true, false},
        {"virt:4+900MB", "virt+900MB", false, false, false},
        {"virt:4+fault:launch@5", "virt+fault:launch@5", false, false, true},
        {"cuda:all", "cuda", true, false, false},
        {"cuda:all+5us+fault:sync@1", "cuda+5us+fault:sync@1", true, true, true},
        {"host", "host", false, false, false},
    };
    char text[64];

    for (size_t i = 0; i < sizeof sample / sizeof *sample; ++i) {
        device_list_kind(sample[i].list, text, sizeof text);
        cr_assert_str_eq(text, sample[i].kind);
        cr_assert_eq(device_list_all(sample[i].list), sample[i].all, "%s", sample[i].list);
        cr_assert_eq(device_list_slowed(sample[i].list), sample[i].slowed, "%s", sample[i].list);
        cr_assert_eq(device_list_slowed(text), sample[i].slowed, "%s", text);
        cr_assert_eq(device_list_faulty(sample[i].list), sample[i].faulty, "%s", sample[i].list);
        cr_assert_not(device_list_fault_slows(sample[i].list), "%s", sample[i].list);
    }
    cr_assert(device_list_fault_slows("virt:2+fault:slow@1/1/300"));
    cr_assert(device_list_fault_slows("virt:2+fault:link@1/1"));
    cr_assert_not(device_list_fault_slows("virt:2+fault:slower@1"));
}
