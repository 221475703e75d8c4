/* area.c: pieces of memory with gaps, such as some columns of a matrix. */
#include "fake.h"

struct fake_area fake_area(const void *lo, size_t width, size_t height, size_t pitch)
{
    if (height > 1 && width == pitch)
        return (struct fake_area){lo, width * height, 1, width * height};
    return (struct fake_area){lo, width, height, pitch};
}

size_t fake_area_span(const struct fake_area *area)
{
    return area->width && area->height ? (area->height - 1) * area->pitch + area->width : 0;
}

/* Returns whether [lo, lo + width) meets a row of the area. */
static bool row_meets(const char *lo, size_t width, const struct fake_area *area)
{
    const size_t span = fake_area_span(area);
    if (span == 0 || width == 0 || lo + width <= area->lo || lo >= area->lo + span)
        return false;
    if (area->height == 1 || lo < area->lo)
        return true;
    const size_t offset = (size_t)(lo - area->lo), within = offset % area->pitch;
    if (within < area->width)
        return true;
    return offset / area->pitch + 1 < area->height && within + width > area->pitch;
}

bool fake_area_meets(const struct fake_area *a, const struct fake_area *b)
{
    const struct fake_area *few = a->height <= b->height ? a : b, *many = few == a ? b : a;
    const struct fake_area around = {few->lo, fake_area_span(few), 1, 0};
    if (!row_meets(around.lo, around.width, many))
        return false;
    for (size_t row = 0; row < few->height; ++row)
        if (row_meets(few->lo + row * few->pitch, few->width, many))
            return true;
    return false;
}

bool fake_area_holds(const struct fake_area *outer, const struct fake_area *inner)
{
    if (outer->lo == inner->lo && outer->width == inner->width && outer->height == inner->height &&
        outer->pitch == inner->pitch)
        return true;
    return outer->height == 1 && outer->lo <= inner->lo &&
           inner->lo + fake_area_span(inner) <= outer->lo + outer->width;
}
