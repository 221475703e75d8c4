/* Numbers with units, and factors of tolerance bounds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "numbers/stats.h"
#include "text/quantity.h"

Test(quantity, numbers_with_their_unit)
{
    static const struct {
        const char *text;
        enum quantity_kind kind;
        double number;
        const char *words;
    } rows[] = {{"4.1 ms", QUANTITY_TIME, 4.1e6, "4.1 ms"},
                {"4100us", QUANTITY_TIME, 4.1e6, "4.1 ms"},
                {"0 ns", QUANTITY_TIME, 0.0, "0 ns"},
                {"1.5e3 samples/s", QUANTITY_RATE, 1500.0, "1.5 ksamples/s"},
                {"2 GB", QUANTITY_BYTES, 2e9, "1.863 GiB"},
                {"2 GiB", QUANTITY_BYTES, 2147483648.0, "2 GiB"},
                {"475 GB/s", QUANTITY_SPEED, 475e9, "475 GB/s"},
                {"2333 MB/s", QUANTITY_SPEED, 2.333e9, "2.333 GB/s"},
                {"0.5 PFLOP/s", QUANTITY_WORK, 5e14, "500 TFLOP/s"},
                {"95 %", QUANTITY_RATIO, 0.95, "0.95 x"},
                {"1.05 x", QUANTITY_RATIO, 1.05, "1.05 x"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct text_error why = {{0}};
        char words[QUANTITY_TEXT];
        double number = NAN;
        cr_assert(quantity_read(rows[i].text, rows[i].kind, &number, &why) == 0, "%s", why.text);
        cr_assert(fabs(number - rows[i].number) <= 1e-12 * rows[i].number, "%s", rows[i].text);
        cr_assert(strcmp(quantity_words(number, rows[i].kind, words), rows[i].words) == 0, "%s: %s",
                  rows[i].text, words);
    }
}

/* A number that is written in base units next to another one is read by other programs as it is. */
Test(quantity, base_units)
{
    for (int kind = 0; kind < QUANTITY_KINDS; ++kind) {
        const char *unit = quantity_base_unit((enum quantity_kind)kind);
        struct text_error why = {""};
        double number = 0;
        char text[64];

        snprintf(text, sizeof text, "1 %s", kind == QUANTITY_RATIO ? "x" : unit);
        cr_assert_eq(quantity_read(text, (enum quantity_kind)kind, &number, &why), 0, "%s",
                     why.text);
        cr_assert(number == 1.0, "%s", text);
    }
    cr_assert_str_eq(quantity_base_unit(QUANTITY_RATIO), "1");
}

Test(quantity, what_is_refused)
{
    static const char *const rows[] = {"4.1",     "4.1 GB", "",       "ms",      "-1 ms",
                                       "nan ms",  "inf s",  "0x4 ms", "1e999 s", "4,1 ms",
                                       "4.1 ms ", "4 m s",  "4.1 MS", "1 2 ms",  " 4 ms"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct text_error why = {{0}};
        double number = -1.0;
        cr_assert(quantity_read(rows[i], QUANTITY_TIME, &number, &why) != 0, "%s", rows[i]);
        cr_assert(strstr(why.text, rows[i]) && strstr(why.text, "ns, us, ms or s"), "%s", why.text);
        cr_assert(number == -1.0);
    }
}

/* The numbers are from tables of one-sided normal tolerance factors. */
Test(quantity, tolerance_factors)
{
    static const struct {
        size_t n;
        double content, confidence, k;
    } rows[] = {{2, 0.95, 0.95, 26.260}, {5, 0.95, 0.95, 4.203},  {6, 0.95, 0.95, 3.708},
                {10, 0.95, 0.95, 2.911}, {20, 0.95, 0.95, 2.396}, {50, 0.95, 0.95, 2.065},
                {10, 0.90, 0.95, 2.355}, {10, 0.99, 0.95, 3.981}, {30, 0.99, 0.99, 3.446}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const double k = tolerance_factor(rows[i].n, rows[i].content, rows[i].confidence);
        cr_assert(fabs(k - rows[i].k) < 2e-4 * rows[i].k, "n %zu: %g, not %g", rows[i].n, k,
                  rows[i].k);
    }
    cr_assert(isnan(tolerance_factor(1, 0.95, 0.95)));
}
