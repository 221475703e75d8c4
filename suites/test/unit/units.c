/* units.c: times and rates never have more than three digits of a unit that has a larger one. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "text/quantity.h"

Test(units, known)
{
    static const struct {
        double value;
        const char *time, *rate;
    } sample[] = {
        {0, "0 ns", "0"},
        {1.5, "1.5 ns", "1.5"},
        {999.4, "999 ns", "999"},
        {999.5, "1 us", "1k"},
        {999499, "999 us", "999k"},
        {999500, "1 ms", "1M"},
        {999999, "1 ms", "1M"},
        {1.5e7, "15 ms", "15M"},
        {9.996e8, "1 s", "1G"},
        {1.2345e12, "1234 s", "1234G"},
        {1e300, "1e+291 s", "1e+291G"},
    };
    char text[UNITS_BYTES];

    for (size_t i = 0; i < sizeof sample / sizeof *sample; ++i) {
        cr_assert_str_eq(units_time(sample[i].value, text), sample[i].time, "%s", text);
        cr_assert_str_eq(units_rate(sample[i].value, text), sample[i].rate, "%s", text);
    }
}

Test(units, binary)
{
    static const struct {
        size_t number;
        const char *text;
    } sample[] = {{1, "1"},           {1000, "1000"},      {1023, "1023"},
                  {1024, "1Ki"},      {1536, "1536"},      {262144, "256Ki"},
                  {26214400, "25Mi"}, {1073741824, "1Gi"}, {1099511627776, "1024Gi"}};
    char text[UNITS_BYTES];

    for (size_t i = 0; i < sizeof sample / sizeof *sample; ++i)
        cr_assert_str_eq(units_binary(sample[i].number, text), sample[i].text, "%s", text);
}

Test(units, not_a_number)
{
    char text[UNITS_BYTES];

    cr_assert_not_null(strstr(units_time(NAN, text), "nan"));
}
