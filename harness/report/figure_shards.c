/* report/figure_shards.c: which rows went to which device: a strip for a number of rows on a number
 * of devices.
 *
 * What is drawn is what the replicas of a verified step saw, as the record has it; nothing is
 * computed from the numbers of rows and devices. One unit is one pixel. */
#include "report/figure.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1000, STRIPS = 8, STRIDE = 96, HEIGHT = 54, LEFT = 190, RIGHT = 760 };
enum { SLOT_LEFT = 786, SLOT = 26, SLOTS = 7, TINTS = 6 };

struct strip {
    const struct record_cell *cell;
    size_t rows, rank; /* rank: the smaller, the sooner it is drawn */
};

struct map {
    struct strip strip[STRIPS];
    size_t n;
    bool more; /* than are drawn */
};

/* The examples that everybody knows first, then the small ones, and of those the uneven ones. */
static size_t rank_of(const struct record_cell *cell, size_t rows)
{
    static const size_t known[][2] = {{30, 2}, {30, 3}, {10, 3}, {10, 8}};
    const size_t devices = (size_t)cell->key.n_devices;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (known[i][0] == rows && known[i][1] == devices)
            return i;
    return 10 + (rows + (rows % devices != 0 ? 0 : 40)) * 64 + devices;
}

static bool same_shards(const struct record_cell *a, const struct record_cell *b)
{
    return a->key.n_devices == b->key.n_devices && a->n_shards == b->n_shards &&
           memcmp(a->shard, b->shard, (size_t)a->n_shards * sizeof a->shard[0]) == 0;
}

static void add_strip(struct map *map, const struct record_cell *cell)
{
    struct strip strip = {.cell = cell};
    size_t i;

    for (int k = 0; k < cell->n_shards; ++k)
        strip.rows += cell->shard[k];
    strip.rank = rank_of(cell, strip.rows);
    for (i = 0; i < map->n; ++i)
        if (same_shards(map->strip[i].cell, cell))
            return;
    if (map->n == STRIPS) {
        map->more = true;
        if (strip.rank >= map->strip[STRIPS - 1].rank)
            return;
        --map->n;
    }
    for (i = map->n++; i > 0 && map->strip[i - 1].rank > strip.rank; --i)
        map->strip[i] = map->strip[i - 1];
    map->strip[i] = strip;
}

static int by_rows(const void *left, const void *right)
{
    const struct strip *a = left, *b = right;

    if (a->rows != b->rows)
        return a->rows < b->rows ? -1 : 1;
    return a->cell->key.n_devices - b->cell->key.n_devices;
}

static void collect(const struct report *report, struct map *map)
{
    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const struct record_cell *cell = point->verified > 0 ? point->middle->cell : NULL;

        if (cell && !report_is_plain(point) && cell->key.n_devices > 1 && cell->n_shards > 0)
            add_strip(map, cell);
    }
    qsort(map->strip, map->n, sizeof map->strip[0], by_rows);
}

static double top_of(size_t strip)
{
    return 74.0 + (double)strip * STRIDE;
}

/* Where row number `row` of a strip begins. */
static double place(const struct strip *strip, size_t row)
{
    return LEFT + (RIGHT - LEFT) * (double)row / (double)strip->rows;
}

static void write_box(FILE *file, double left, double right, double top, double bottom)
{
    fprintf(file, "%.5g\t%.5g\t%.5g\t%.5g\n", left, right, top, bottom);
}

/* The blocks of one tint: every sixth device, so that neighbours differ. */
static void write_tint(FILE *file, const struct map *map, int tint)
{
    for (size_t s = 0; s < map->n; ++s) {
        const struct strip *strip = &map->strip[s];
        size_t row = 0;

        for (int k = 0; k < strip->cell->n_shards; ++k) {
            const size_t end = row + strip->cell->shard[k];

            if (k % TINTS == tint && end > row)
                write_box(file, place(strip, row), place(strip, end), top_of(s),
                          top_of(s) + HEIGHT);
            row = end;
        }
    }
    fputs("nan\tnan\tnan\tnan\n\n\n", file);
}

/* Devices that got no rows: past the shards, or with a shard of none. */
static int idle_devices(const struct record_cell *cell, int list[RECORD_MAX_RANKS])
{
    int n = 0;

    for (int k = 0; k < cell->key.n_devices && k < RECORD_MAX_RANKS; ++k)
        if (k >= cell->n_shards || cell->shard[k] == 0)
            list[n++] = k;
    return n;
}

/* All of them, or so many that "+57" fits behind. */
static int slots_drawn(int idle)
{
    return idle <= SLOTS ? idle : SLOTS - 2;
}

static void write_slots(FILE *file, const struct map *map)
{
    int list[RECORD_MAX_RANKS];

    for (size_t s = 0; s < map->n; ++s) {
        const int n = slots_drawn(idle_devices(map->strip[s].cell, list));

        for (int i = 0; i < n; ++i)
            write_box(file, SLOT_LEFT + i * (SLOT + 2), SLOT_LEFT + i * (SLOT + 2) + SLOT,
                      top_of(s), top_of(s) + HEIGHT);
    }
    fputs("nan\tnan\tnan\tnan\n\n\n", file);
}

/* A block says as much as it has room for. */
static void write_block_words(FILE *file, const struct map *map)
{
    for (size_t s = 0; s < map->n; ++s) {
        const struct strip *strip = &map->strip[s];
        size_t row = 0;

        for (int k = 0; k < strip->cell->n_shards; ++k) {
            const size_t rows = strip->cell->shard[k];
            const double left = place(strip, row), width = place(strip, row + rows) - left;
            const double x = left + width / 2, y = top_of(s) + HEIGHT / 2.0;

            row += rows;
            if (width >= 80.0) {
                fprintf(file, "%.5g\t%.5g\tdevice %d\n", x, y - 9, k);
                fprintf(file, "%.5g\t%.5g\t%zu row%s\n", x, y + 9, rows, rows == 1 ? "" : "s");
            } else if (width >= 24.0)
                fprintf(file, "%.5g\t%.5g\t%d\n", x, y, k);
        }
    }
    fputs("\n\n", file);
}

/* The numbers of the rows under the ends of the blocks, and the idle devices. */
static void write_small_words(FILE *file, const struct map *map)
{
    int list[RECORD_MAX_RANKS];

    for (size_t s = 0; s < map->n; ++s) {
        const struct strip *strip = &map->strip[s];
        const double y = top_of(s) + HEIGHT + 12.0, middle = top_of(s) + HEIGHT / 2.0;
        const int idle = idle_devices(strip->cell, list), drawn = slots_drawn(idle);
        double last = LEFT;
        size_t row = 0;

        fprintf(file, "%d\t%.5g\t0\n", LEFT, y);
        for (int k = 0; k < strip->cell->n_shards; ++k) {
            row += strip->cell->shard[k];
            if (row == strip->rows ||
                (place(strip, row) - last >= 30.0 && RIGHT - place(strip, row) >= 30.0)) {
                last = place(strip, row);
                fprintf(file, "%.5g\t%.5g\t%zu\n", last, y, row);
            }
            if (row == strip->rows)
                break;
        }
        for (int i = 0; i < drawn; ++i)
            fprintf(file, "%d\t%.5g\t%d\n", SLOT_LEFT + i * (SLOT + 2) + SLOT / 2, middle, list[i]);
        if (idle > drawn)
            fprintf(file, "%d\t%.5g\t+%d\n", SLOT_LEFT + drawn * (SLOT + 2) + SLOT / 2 + 4, middle,
                    idle - drawn);
        if (idle > 0)
            fprintf(file, "%d\t%.5g\tidle\n", SLOT_LEFT + drawn * (SLOT + 2) / 2, y);
    }
    fputs("\n\n", file);
}

static void write_names(FILE *file, const struct map *map)
{
    for (size_t s = 0; s < map->n; ++s)
        fprintf(file, "20\t%.5g\t%zu rows on %d%s\n", top_of(s) + HEIGHT / 2.0, map->strip[s].rows,
                map->strip[s].cell->key.n_devices,
                strcmp(map->strip[s].cell->key.mode, "ddp") == 0 ? " (DDP)" : "");
}

int figure_shards(struct plot *plot)
{
    struct plot_frame frame = {.right = WIDTH, .at = 20, .title = 24, .note = 48};
    struct map map = {.n = 0};
    struct text_out out;

    plot->width = WIDTH;
    snprintf(plot->why, sizeof plot->why, "no cell of several devices is verified");
    collect(figure_report(plot), &map);
    if (map.n == 0)
        return 0;
    plot->height = frame.bottom = top_of(map.n) + 40.0;
    snprintf(frame.words[PLOT_TITLE], REPORT_CELL_TEXT, "Which rows went to which device");
    snprintf(frame.words[PLOT_NOTE], REPORT_CELL_TEXT,
             "as the replicas saw it; blocks have the number of the device, below them the first "
             "row of the next%s",
             map.more ? "; not all drawn" : "");
    frame.words[PLOT_X][0] = frame.words[PLOT_Y][0] = ' ';
    frame.x = (struct plot_axis){.lo = 0.0, .hi = WIDTH};
    frame.y = (struct plot_axis){.lo = plot->height, .hi = 0.0};
    plot_frame_write(plot, &frame);
    if (plot_data_open(plot, &out) != 0)
        return -1;
    fputs("# 6 tints of blocks and idle devices: left, right, top, bottom; then words\n", out.file);
    for (int tint = 0; tint < TINTS; ++tint)
        write_tint(out.file, &map, tint);
    write_slots(out.file, &map);
    write_block_words(out.file, &map);
    write_small_words(out.file, &map);
    write_names(out.file, &map);
    return text_close(&out, plot->err) == 0 ? 1 : -1;
}
