/* record_file.c: tests of whole files of records and of appending to them. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record.h"
#include "record_example.h"

/* A new file, removed while it is open; path goes by its descriptor. */
struct scratch {
    int fd;
    char path[64];
};

static struct scratch open_scratch(void)
{
    char name[] = "/tmp/lockstep-unit-XXXXXX";
    struct scratch file = {.fd = mkstemp(name)};
    cr_assert(file.fd >= 0, "no scratch file");
    unlink(name);
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static long record_file_size_of(const struct scratch *file)
{
    struct stat info;
    cr_assert(fstat(file->fd, &info) == 0);
    return (long)info.st_size;
}

static void record_file_append(const struct scratch *file, const char *text)
{
    cr_assert(write(file->fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Appends a line and frees it. */
static void append_line(const struct scratch *file, char *line)
{
    struct text_error err = {""};
    cr_assert(line && record_append(file->fd, line, &err) == 0, "%s", err.text);
    free(line);
}

static void append_run(const struct scratch *file)
{
    const struct record_run run = example_run();
    append_line(file, record_run_text(&run));
}

static void append_status(const struct scratch *file, int launch, uint64_t setup_ns,
                          enum record_status status)
{
    struct record_cell cell = example_cell(launch);
    cell.setup_ns = setup_ns;
    cell.devices_ns = cell.reference_ns = 0;
    cell.status = status;
    cell.validated = status == RECORD_OK;
    snprintf(cell.reason, sizeof cell.reason, "%s", status == RECORD_OK ? "" : "a test");
    append_line(file, record_cell_text(&cell));
    record_cell_free(&cell);
}

static void append_cell(const struct scratch *file, int launch, uint64_t setup_ns)
{
    append_status(file, launch, setup_ns, RECORD_OK);
}

static void append_end(const struct scratch *file, struct record_end end)
{
    end.planned = 50;
    append_line(file, record_end_text(EXAMPLE_RUN_ID, &end));
}

static void append_seconds(const struct scratch *file, size_t ok, int sitting, double seconds)
{
    append_end(file, (struct record_end){
                         .ok = ok, .interrupted = true, .sitting = sitting, .seconds = seconds});
}

/* Returns what is read from a file, which must be readable; the caller frees it. */
static struct record_file read_scratch(const struct scratch *at)
{
    struct record_file file;
    struct text_error err = {""};
    cr_assert(record_read(at->path, false, &file, &err) == 0, "%s", err.text);
    return file;
}

static void check_unreadable(const struct scratch *at, const char *place, const char *named)
{
    struct record_file file;
    struct text_error err = {""}, again = {""};
    cr_assert(record_read(at->path, true, &file, &again) == -1, "%s: its steps were read", named);
    cr_assert(!file.cell && file.n_cells == 0, "something is left to free");
    cr_assert(record_read(at->path, false, &file, &err) == -1, "%s: was read", named);
    cr_assert(strcmp(err.text, again.text) == 0, "\"%s\" and \"%s\"", err.text, again.text);
    cr_assert(!file.cell && file.n_cells == 0, "something is left to free");
    cr_assert(strstr(err.text, place) && strstr(err.text, named), "\"%s\" names neither %s nor %s",
              err.text, place, named);
    cr_assert(ftruncate(at->fd, 0) == 0 && lseek(at->fd, 0, SEEK_SET) == 0);
    close(at->fd);
}

Test(record_file, whole)
{
    const struct scratch at = open_scratch();
    append_run(&at);
    append_status(&at, 0, 5, RECORD_FAILED);
    append_cell(&at, 1, 6);
    append_end(&at, (struct record_end){.ok = 1, .not_ok = 1, .interrupted = true, .seconds = NAN});
    append_cell(&at, 0, 7);
    struct record_file file = read_scratch(&at);
    cr_assert(file.n_cells == 2 && !file.torn && !file.ended, "a cell after the end: not ended");
    cr_assert(file.cell[0].setup_ns == 7 && file.cell[1].setup_ns == 6, "the last one counts");
    cr_assert(file.run.planned == 50);
    record_file_free(&file);
    append_end(&at, (struct record_end){.ok = 2, .interrupted = true, .seconds = NAN});
    file = read_scratch(&at);
    cr_assert(file.ended && file.interrupted);
    record_file_free(&file);
    close(at.fd);
}

Test(record_file, many_cells)
{
    const struct scratch at = open_scratch();
    append_run(&at);
    for (int launch = 0; launch < 50; ++launch)
        append_status(&at, launch, (uint64_t)launch, launch % 3 == 1 ? RECORD_FAILED : RECORD_OK);
    struct record_file file = read_scratch(&at);
    cr_assert(file.n_cells == 50);
    for (int launch = 0; launch < 50; ++launch)
        cr_assert(file.cell[launch].key.launch == launch, "order of the file");
    record_file_free(&file);
    append_end(&at, (struct record_end){.ok = 33, .not_ok = 17, .seconds = NAN});
    for (int launch = 49; launch >= 0; launch -= 3)
        append_cell(&at, launch, 1000);
    append_end(&at, (struct record_end){.ok = 50, .seconds = NAN});
    file = read_scratch(&at);
    cr_assert(file.n_cells == 50 && file.ended && !file.interrupted);
    for (int launch = 0; launch < 50; ++launch) {
        const uint64_t setup = launch % 3 == 1 ? 1000 : (uint64_t)launch;
        cr_assert(file.cell[launch].key.launch == launch && file.cell[launch].setup_ns == setup);
    }
    record_file_free(&file);
    close(at.fd);
}

/* Appends a launch of 20 us that belongs to a session. */
static void append_sitting(const struct scratch *file, int launch, int sitting)
{
    struct record_cell cell = example_cell(launch);
    cell.sitting = sitting;
    append_line(file, record_cell_text(&cell));
    record_cell_free(&cell);
}

/* Returns the time of all sessions that is in the file. */
static double seconds_of(const struct scratch *at)
{
    struct record_file file = read_scratch(at);
    const double seconds = file.seconds;
    record_file_free(&file);
    return seconds;
}

Test(record_file, seconds)
{
    const struct scratch at = open_scratch();
    append_run(&at);
    append_sitting(&at, 0, 0);
    cr_assert(isnan(seconds_of(&at)), "it has not ended");
    append_seconds(&at, 1, 0, 3.0);
    cr_assert(seconds_of(&at) == 3);
    append_sitting(&at, 1, 1);
    append_seconds(&at, 2, 1, 0.5);
    cr_assert(seconds_of(&at) == 3.5, "two sittings");
    append_sitting(&at, 2, 2);
    append_sitting(&at, 3, 3);
    append_seconds(&at, 4, 3, 0.00002);
    cr_assert(isnan(seconds_of(&at)), "one of them was killed");
    close(at.fd);
}

/* A sweep was killed between its last cell and its end; --resume found nothing left to measure. */
Test(record_file, seconds_of_another_sitting)
{
    const struct scratch at = open_scratch();
    append_run(&at);
    append_sitting(&at, 0, 0);
    append_seconds(&at, 1, 1, 0.000001);
    cr_assert(isnan(seconds_of(&at)), "the first never ended");
    close(at.fd);
}

Test(record_file, seconds_too_few)
{
    static const double seconds[] = {0.000035, 0.0};
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; ++i) {
        const struct scratch at = open_scratch();
        append_run(&at);
        append_sitting(&at, 0, 0);
        append_sitting(&at, 1, 0);
        append_seconds(&at, 2, 0, seconds[i]);
        check_unreadable(&at, ":4: ", "of its launches are 4e-05 s");
    }
}

Test(record_file, timed)
{
    struct record_cell cell = example_cell(0);
    struct record_timed timed = record_timed(&cell);
    cr_assert(fabs(timed.steps - 1377e-9) < 1e-15 && timed.beside == 0, "without the warm-up");
    cell.flags[7] |= RECORD_BAD_VALUES;
    cell.n_alone = 2;
    cell.alone_ns[0] = 30;
    cell.alone_ns[1] = 12;
    cell.n_rounds = 1;
    cell.round_ns[RECORD_COMPUTE][0] = 1000;
    cell.round_ns[RECORD_COMM][0] = 200;
    cell.round_ns[RECORD_WHOLE][0] = 1100;
    timed = record_timed(&cell);
    cr_assert(fabs(timed.steps - 1237e-9) < 1e-15 && fabs(timed.beside - 2342e-9) < 1e-15);
    cell.status = RECORD_FAILED;
    timed = record_timed(&cell);
    cr_assert(timed.steps == 0 && timed.beside == 0, "it is not verified");
    record_cell_free(&cell);
}

/* The example has steps of 1377 ns after a warm-up of two; the first of them begins at 2000. */
Test(record_file, costs)
{
    static const double ns[RECORD_COSTS] = {1000, 2, 2, 1, 2000, 300, 21000 - 1377 - 3305};
    struct record_cell cell = example_cell(0);
    struct record_costs costs = {0};
    char text[RECORD_COSTS_TEXT];
    cr_assert(!record_costs_words(&costs, 0, text), "without a launch");
    record_costs_add(&costs, &cell);
    cell.status = RECORD_FAILED;
    record_costs_add(&costs, &cell);
    cr_assert(costs.launches == 1, "one is not verified");
    for (int c = 0; c < RECORD_COSTS; ++c)
        cr_assert(fabs(costs.seconds[c] - ns[c] / 1e9) < 1e-15, "%s: %g ns", record_cost_names[c],
                  1e9 * costs.seconds[c]);
    cr_assert(record_costs_words(&costs, 0.00025, text));
    cr_assert(strcmp(text, "270 us of a launch: process 1 us, devices 2 ns, model 2 ns, "
                           "reference 1 ns, warm-up 2 us, verifying 300 ns, rest 16.3 us, "
                           "writing 250 us") == 0,
              "%s", text);
    cell.status = RECORD_OK;
    cell.launch_ns = 0;
    record_costs_add(&costs, &cell);
    cr_assert(!record_costs_words(&costs, 0, text), "an old record has no such time");
    costs = (struct record_costs){0};
    cell.launch_ns = 21000;
    record_cell_keep_steps(&cell);
    record_costs_add(&costs, &cell);
    cr_assert(costs.launches == 0 && costs.unknown == 1, "the starts of its steps are gone");
    record_cell_free(&cell);
}

/* The last line is cut off at every place: it is torn, and cutting at the reported offset repairs
 * the file. */
Test(record_file, torn_tail, .timeout = 50)
{
    const struct scratch at = open_scratch();
    append_run(&at);
    append_cell(&at, 0, 5);
    const long whole = record_file_size_of(&at);
    append_cell(&at, 1, 6);
    const long end = record_file_size_of(&at);
    struct record_file file;
    struct text_error err = {""};
    for (long cut = end - 1; cut > whole; cut -= cut > end - 4 || cut < whole + 4 ? 1 : 7) {
        cr_assert(ftruncate(at.fd, cut) == 0);
        cr_assert(record_read(at.path, false, &file, &err) == 0, "cut at %ld: %s", cut, err.text);
        cr_assert(file.torn && file.torn_offset == whole && file.n_cells == 1, "cut at %ld", cut);
        record_file_free(&file);
    }
    cr_assert(ftruncate(at.fd, whole) == 0);
    file = read_scratch(&at);
    cr_assert(!file.torn && file.n_cells == 1);
    record_file_free(&file);
    record_file_append(&at, "{\"schema\":\n");
    file = read_scratch(&at);
    cr_assert(file.torn && file.torn_offset == whole);
    record_file_free(&file);
    close(at.fd);
}

/* A blank makes a line one that is read as JSON. Members that are dropped have been checked before.
 */
Test(record_file, steps_alone)
{
    struct scratch at = open_scratch();
    struct record_cell cell = example_cell(1);
    struct record_file file;
    struct text_error err = {""};
    char *text = record_cell_text(&cell);
    append_run(&at);
    append_cell(&at, 0, 5);
    record_file_append(&at, "{ ");
    record_file_append(&at, text + 1);
    record_file_append(&at, "\n");
    free(text);
    cr_assert(record_read(at.path, true, &file, &err) == 0 && file.n_cells == 2, "%s", err.text);
    for (size_t i = 0; i < 2; ++i) {
        const struct record_cell *back = &file.cell[i];
        cr_assert(back->n_samples == 8 && back->median_ns == cell.median_ns);
        cr_assert(memcmp(back->t_step_ns, cell.t_step_ns, 8 * sizeof cell.t_step_ns[0]) == 0);
        cr_assert(memcmp(back->flags, cell.flags, 8 * sizeof cell.flags[0]) == 0);
        cr_assert(!back->t_start_ns && !back->matmul_ns && !back->phase_ns[RECORD_FORWARD]);
    }
    record_file_free(&file);
    close(at.fd);
    for (int blank = 0; blank < 2; ++blank) {
        at = open_scratch();
        cell.phase_ns[RECORD_FORWARD][8 + 5] = 778; /* of a step of 777 ns */
        record_derive(&cell);
        text = record_cell_text(&cell);
        append_run(&at);
        record_file_append(&at, blank ? "{ " : "{");
        record_file_append(&at, text + 1);
        record_file_append(&at, "\n");
        free(text);
        check_unreadable(&at, ":2: ", "step 5 took 777 ns, but forward of replica 1 in it 778");
    }
    record_cell_free(&cell);
}

/* Returns the line that a table names: "run" and "cell" are right ones, after "other " those of
 * another run. All others are themselves. The caller frees it. */
static char *line_of(const char *name)
{
    const struct record_run run = example_run();
    const struct record_end end = {.planned = 1, .ok = 1, .seconds = (double)NAN};
    struct record_cell cell = example_cell(0);
    if (strcmp(name, "other cell") == 0)
        snprintf(cell.run_id, sizeof cell.run_id, "eeeeeeeeeeeeeeee");
    char *line = strcmp(name, "run") == 0         ? record_run_text(&run)
                 : strcmp(name, "other end") == 0 ? record_end_text("ffffffffffffffff", &end)
                 : strstr(name, "cell") && name[0] != '{' ? record_cell_text(&cell)
                                                          : strdup(name);
    record_cell_free(&cell);
    return line;
}

/* A complete last line of another kind is not torn: cutting it off would destroy it. */
Test(record_file, foreign_lines)
{
    static const struct {
        const char *lines[4], *place, *named;
    } files[] = {
        {{"run", "{\"schema\":", "cell"}, ":2: ", "not JSON"},
        {{"run", "cell", "", "cell"}, ":3: ", "not JSON"},
        {{"run", "{\"schema\":\"lockstep/cell/2.0\"}"}, ":2: ", "lockstep/cell/2.0"},
        {{"{\"context\":{\"date\":\"2026-01-01\"}}"}, ":1: ", "schema"},
        {{"\x89PNG\r\n\x1a"}, ":1: ", "not JSON"},
        {{"cell"}, ":1: ", "first line"},
        {{"run", "run"}, ":2: ", "first line"},
        {{"run", "other end"}, ":2: ", "ffffffffffffffff"},
        {{"run", "other cell"}, ":2: ", "eeeeeeeeeeeeeeee"},
        {{NULL}, ":1: ", "empty"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        const struct scratch at = open_scratch();
        for (int k = 0; k < 4 && files[i].lines[k]; ++k) {
            char *line = line_of(files[i].lines[k]);
            record_file_append(&at, line);
            record_file_append(&at, "\n");
            free(line);
        }
        check_unreadable(&at, files[i].place, files[i].named);
    }
}

Test(record_file, incomplete_missing)
{
    const struct scratch at = open_scratch();
    record_file_append(&at, "{\"schema\":\"lockstep/run/1.1\"");
    check_unreadable(&at, ":1: ", "incomplete");
    struct record_file file;
    struct text_error err = {""};
    cr_assert(record_read("/tmp/no/such/file", false, &file, &err) == -1);
    cr_assert(strstr(err.text, "/tmp/no/such/file"), "%s", err.text);
    cr_assert(record_read("/tmp", false, &file, &err) == -1, "a directory was read");
}

/* An endless line ends at the limit, not when memory does. */
Test(record_file, endless_line, .timeout = 50)
{
    struct record_file file;
    struct text_error err = {""};
    cr_assert(record_read("/dev/zero", false, &file, &err) == -1);
    cr_assert(strstr(err.text, "longer than"), "%s", err.text);
}

Test(record_file, full_disk)
{
    const int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        cr_skip_test("there is no /dev/full here");
    struct text_error err = {""};
    cr_assert(record_append(fd, "{}", &err) == -1, "a full disk went unnoticed");
    cr_assert(strstr(err.text, "No space left"), "%s", err.text);
    close(fd);
}

/* The disk becomes full in the middle of a record: the file is then as it was before. */
Test(record_file, full_disk_in_the_middle)
{
    const struct scratch at = open_scratch();
    append_run(&at);
    const long before = record_file_size_of(&at);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    cr_assert(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = (rlim_t)before + 100;
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    char line[400];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    struct text_error err = {""};
    const int status = record_append(at.fd, line, &err);
    const long after = record_file_size_of(&at);
    limit.rlim_cur = limit.rlim_max;
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    cr_assert(status == -1, "a short write went unnoticed");
    cr_assert(after == before, "%ld bytes, before %ld", after, before);
    cr_assert(strstr(err.text, "as it was"), "%s", err.text);
    append_cell(&at, 0, 5);
    struct record_file file = read_scratch(&at);
    cr_assert(file.n_cells == 1);
    record_file_free(&file);
    close(at.fd);
}

Test(record_file, append_refuses)
{
    const struct scratch at = open_scratch();
    struct text_error err = {""};
    cr_assert(record_append(at.fd, "{}\n{}", &err) == -1 && record_file_size_of(&at) == 0,
              "two lines");
    close(at.fd);
    cr_assert(record_append(-1, "{}", &err) == -1, "no file");
}
