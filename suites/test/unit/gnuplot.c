/* gnuplot.c: a program in the place of gnuplot that fails, or never ends, is reported and survived.
 */
#include "plot/plot.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Returns the error of plot_gnuplot when `gnuplot` is this shell script, with a limit of 1 s. */
static struct text_error run_script(const char *script)
{
    char directory[] = "/tmp/lockstep-gnuplot-XXXXXX", path[80], search[80];
    struct text_error err = {""};
    cr_assert(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/gnuplot", directory);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    /* The argument is figure='x';ending='E'. */
    fprintf(file, "#!/bin/sh\ne=${3#*ending=\\'}\ne=${e%%\\'}\n%s\n", script);
    cr_assert(fclose(file) == 0 && chmod(path, 0700) == 0);
    snprintf(search, sizeof search, "%s:/usr/bin:/bin", directory);
    cr_assert(setenv("PATH", search, 1) == 0);
    const int status = plot_gnuplot(directory, "x=1", "throughput.gp", 1, &err);
    cr_assert(status == (strcmp(script, "exit 0") == 0 ? 0 : -1), "%d: %s", status, err.text);
    unlink(path);
    rmdir(directory);
    return err;
}

Test(gnuplot, has_a_time_limit, .timeout = 30)
{
    struct timespec start, end;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    /* A caller may have left SIGALRM blocked and ignored: the limit must hold all the same. */
    cr_assert(sigprocmask(SIG_BLOCK, &alarms, NULL) == 0);
    cr_assert(signal(SIGALRM, SIG_IGN) != SIG_ERR);
    clock_gettime(CLOCK_MONOTONIC, &start);
    const struct text_error err = run_script("exec sleep 20");
    clock_gettime(CLOCK_MONOTONIC, &end);
    cr_assert(strcmp(err.text, "gnuplot was stopped: it took more than 1 s") == 0, "%s", err.text);
    cr_assert(end.tv_sec - start.tv_sec < 15, "%ld s", (long)(end.tv_sec - start.tv_sec));
}

Test(gnuplot, failures_are_told_apart)
{
    cr_assert(run_script("exit 0").text[0] == '\0');
    struct text_error err = run_script("echo 'no such\033[2J terminal' >&2; exit 3");
    cr_assert(strstr(err.text, "exit status 3: no such"), "%s", err.text);
    cr_assert(!strchr(err.text, '\033'), "control characters are passed on");
    err = run_script("kill -9 $$");
    cr_assert(strstr(err.text, "died of signal 9"), "%s", err.text);
}

Test(gnuplot, a_program_that_is_not_there_or_cannot_be_executed)
{
    char directory[] = "/tmp/lockstep-gnuplot-XXXXXX", path[80];
    struct text_error err = {""};
    cr_assert(mkdtemp(directory) && setenv("PATH", directory, 1) == 0);
    cr_assert(plot_gnuplot("/", "x=1", "throughput.gp", 1, &err) == -1);
    cr_assert(strstr(err.text, "was not found"), "%s", err.text);
    snprintf(path, sizeof path, "%s/gnuplot", directory);
    FILE *file = fopen(path, "w");
    cr_assert(file && fclose(file) == 0 && chmod(path, 0600) == 0);
    cr_assert(plot_gnuplot("/", "x=1", "throughput.gp", 1, &err) == -1);
    cr_assert(strstr(err.text, "exit status 126"), "%s", err.text);
    cr_assert(chmod(path, 0700) == 0);
    cr_assert(plot_gnuplot("/no/such/folder", "x=1", "throughput.gp", 1, &err) == -1);
    cr_assert(strstr(err.text, "exit status 126"), "%s", err.text);
    unlink(path);
    rmdir(directory);
}

/* Returns the first line of a file of the directory; NULL: there is no such file. */
static const char *line_of(const char *directory, const char *name, char line[160])
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, 160, file))
        line = NULL;
    if (file)
        fclose(file);
    return line;
}

static void write_gnuplot(const char *directory, const char *script)
{
    char path[80];
    snprintf(path, sizeof path, "%s/gnuplot", directory);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    /* The argument is figure='x';ending='E'. */
    fprintf(file, "#!/bin/sh\ne=${3#*ending=\\'}\ne=${e%%\\'}\n%s\n", script);
    cr_assert(fclose(file) == 0 && chmod(path, 0700) == 0);
}

/* Ids get the name of the figure, in tags only; and there are both pictures or none. */
Test(gnuplot, a_figure_is_both_pictures)
{
    char directory[] = "/tmp/lockstep-gnuplot-XXXXXX", search[80], line[160];
    struct text_error err = {""};
    cr_assert(mkdtemp(directory));
    snprintf(search, sizeof search, "%s:/usr/bin:/bin", directory);
    cr_assert(setenv("PATH", search, 1) == 0);
    write_gnuplot(directory,
                  "printf '\\211PNG\\r\\n\\032\\nrest\\0\\0\\0\\0IEND\\256B`\\202' >x.png$e\n"
                  "echo \"<?xml?><a id='b' id=\\\"c\\\" href='#b' f='url(#d)'> "
                  "id='e' url(#f)</a></svg>\" >x.svg$e");
    cr_assert(plot_draw(directory, "x", false, &err) == 0, "%s", err.text);
    cr_assert(line_of(directory, "x.svg", line));
    cr_assert_str_eq(line, "<?xml?><a id='x_b' id=\"x_c\" href='#x_b' f='url(#x_d)'> "
                           "id='e' url(#f)</a></svg>\n");
    write_gnuplot(directory, "echo '<?xml?><a></a></svg>' >x.svg$e; echo no >x.png$e");
    cr_assert(plot_draw(directory, "x", false, &err) == -1);
    cr_assert_str_eq(err.text, "gnuplot made no usable 'x.png'");
    write_gnuplot(directory, "echo '<?xml?><a></a></svg>' >x.svg$e\n"
                             "printf '\\211PNG\\r\\n\\032\\nrest of a picture' >x.png$e");
    cr_assert(plot_draw(directory, "x", false, &err) == -1);
    cr_assert_str_eq(err.text, "gnuplot made no usable 'x.png'");
    write_gnuplot(directory, "echo '<?xml?><a></a></svg' >x.svg$e");
    cr_assert(plot_draw(directory, "x", false, &err) == -1);
    cr_assert_str_eq(err.text, "gnuplot made no usable 'x.svg'");
    text_remove(directory, "gnuplot");
    cr_assert(rmdir(directory) == 0, "a file is left");
}

Test(gnuplot, text_is_cut_between_characters)
{
    char text[PLOT_TEXT] = "short", wide[PLOT_TEXT] = "";
    plot_fit(text, 100.0, 17.0);
    cr_assert_str_eq(text, "short");
    for (int i = 0; i < 100; ++i)
        strcat(wide, "\u6f22");
    plot_fit(wide, 300.0, 15.0);
    const size_t length = strlen(wide);
    cr_assert(length >= 6 && length <= 60 && length % 3 == 0, "%zu bytes", length);
    cr_assert_str_eq(wide + length - 3, "\u2026");
}
