/* options.c: tests of the parsing of option values. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "text/options.h"

struct size_row {
    const char *value;
    size_t want;
};

Test(options, sizes_that_are_read)
{
    static const struct size_row rows[] = {
        {"1", 1},
        {"4096", 4096},
        {"64Ki", 65536},
        {"1Mi", 1048576},
        {"2Gi", 2147483648},
        {"007", 7},
        {"1000000000000", 1000000000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        size_t got = 0;
        struct text_error why = {""};
        cr_assert(option_size(rows[i].value, 1, SIZE_MAX - 1, &got, &why) == 0, "%s: %s",
                  rows[i].value, why.text);
        cr_assert(got == rows[i].want, "%s: %zu", rows[i].value, got);
    }
}

Test(options, sizes_that_are_refused)
{
    static const char *const values[] = {
        "",
        " 1",
        "1 ",
        "+1",
        "-1",
        "1.5",
        "1e3",
        "0x10",
        "Ki",
        "1K",
        "1k",
        "1Kib",
        "1ki",
        "1Ti",
        "nan",
        "0",
        "1025",
        "2Ki",
        "1,2",
        "1\n",
        "999999999999999999999999",
        "18446744073709551617",
        "17179869184Gi",
        "18446744073709551615",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        size_t got = 4711;
        struct text_error why = {""};
        cr_assert(option_size(values[i], 1, 1024, &got, &why) == -1, "\"%s\" was read", values[i]);
        cr_assert(got == 4711, "\"%s\": the result was written", values[i]);
        cr_assert(strstr(why.text, "1 to 1024"), "\"%s\" does not say what is allowed", why.text);
        cr_assert(!strchr(why.text, '\n'), "more than one line");
    }
}

/* "10 20 30" */
static void list_text(const size_t list[], size_t n, char text[200])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n && used < 180; ++i)
        used += (size_t)snprintf(text + used, 200 - used, i == 0 ? "%zu" : " %zu", list[i]);
}

struct list_row {
    const char *value, *want;
};

Test(options, lists_that_are_read)
{
    static const struct list_row rows[] = {
        {"1,2,4", "1 2 4"},
        {"7", "7"},
        {"4,2,1,2,4", "1 2 4"},
        {"32:4096:x2", "32 64 128 256 512 1024 2048 4096"},
        {"10:30:+10", "10 20 30"},
        {"10:25:+10", "10 20"},
        {"10,30,32:256:x2", "10 30 32 64 128 256"},
        {"1:4000:x10", "1 10 100 1000"},
        {"5:5:x2,5:5:+1", "5"},
        {"1Ki:4Ki:x2", "1024 2048 4096"},
        {"64:1:x2,3", NULL},
        {"4096:8192:+4Ki", "4096 8192"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        size_t list[8], n = 0;
        struct text_error why = {""};
        char text[200];
        const int status = option_sizes(rows[i].value, 1, 1 << 20, list, 8, &n, &why);
        cr_assert((status == 0) == (rows[i].want != NULL), "%s: %s", rows[i].value, why.text);
        list_text(list, n, text);
        cr_assert(status != 0 || strcmp(text, rows[i].want) == 0, "%s: %s", rows[i].value, text);
    }
}

Test(options, lists_that_are_refused)
{
    static const char *const values[] = {
        "",
        ",",
        "1,",
        ",1",
        "1,,2",
        "1;2",
        "1:2",
        "1:2:3",
        "1:8:x1",
        "1:8:x0",
        "1:8:+0",
        "8:1:+1",
        "1:8:x",
        "1:8:x2:x2",
        "1:8:*2",
        "0:8:x2",
        "1:2000000:x2",
        "a:b:x2",
        "1:8:-1",
        "1:9:+1",
        "1 ,2",
        ":::",
        "1:1048576:+1",
        "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        size_t list[8], n = 4711;
        struct text_error why = {""};
        cr_assert(option_sizes(values[i], 1, 1 << 20, list, 8, &n, &why) == -1, "\"%s\" was read",
                  values[i]);
        cr_assert(n == 4711 && why.text[0] != '\0', "\"%s\"", values[i]);
    }
}

/* Steps beyond the largest number must end the list, not wrap around. */
Test(options, lists_do_not_overflow)
{
    size_t list[80], n = 0;
    struct text_error why = {""};
    cr_assert(option_sizes("1:18446744073709551614:x2", 1, SIZE_MAX - 1, list, 80, &n, &why) == 0,
              "%s", why.text);
    cr_assert(n == 64 && list[63] == (size_t)1 << 63, "%zu values", n);
    cr_assert(option_sizes("5:18446744073709551614:+18446744073709551610", 1, SIZE_MAX - 1, list,
                           80, &n, &why) == 0);
    cr_assert(n == 1 && list[0] == 5, "%zu values", n);
    const char *zero = "0:18446744073709551614:+9223372036854775807";
    cr_assert(option_sizes(zero, 0, SIZE_MAX - 1, list, 80, &n, &why) == 0 && n == 3);
}

Test(options, names)
{
    static const char *const names[] = {"tutorial", "mlp", "rnn"};
    size_t index = 9;
    struct text_error why = {""};
    cr_assert(option_name("workload", "mlp", names, 3, &index, &why) == 0 && index == 1);
    cr_assert(option_name("workload", "mpl", names, 3, &index, &why) == -1 && index == 1);
    cr_assert(strcmp(why.text, "unknown workload \"mpl\"; known: mlp, rnn, tutorial") == 0, "%s",
              why.text);
    cr_assert(option_name("workload", "tutorials", names, 3, &index, &why) == -1);
    cr_assert(strstr(why.text, "known: tutorial"), "nearest first: %s", why.text);
    cr_assert(option_name("workload", "", names, 3, &index, &why) == -1);
    cr_assert(option_name("workload", "MLP", names, 3, &index, &why) == -1);
}

Test(options, messages_are_one_line_and_fit)
{
    char value[1000];
    memset(value, '\x1b', sizeof value);
    value[sizeof value - 1] = '\0';
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    size_t index, size, n, list[2];
    struct text_error why = {""};
    cr_assert(option_name("what", value, names, 6, &index, &why) == -1);
    cr_assert(!strchr(why.text, '\x1b') && strlen(why.text) < sizeof why.text - 1);
    cr_assert(option_size(value, 1, 2, &size, &why) == -1);
    cr_assert(!strchr(why.text, '\x1b') && strstr(why.text, "..."));
    cr_assert(option_sizes(value, 1, 2, list, 2, &n, &why) == -1);
    cr_assert(!strchr(why.text, '\x1b'));
}
