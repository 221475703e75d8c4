/* gnuplot.c: a program in the place of gnuplot that fails, or never ends, is reported and survived.
 */
#include "plot/plot.h"
#include "root.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Puts a shell script in the place of gnuplot, into the folder of the test. */
static void write_gnuplot(const char *script)
{
    char text[1024], search[80];
    /* The argument is figure='x';ending='E'. */
    snprintf(text, sizeof text, "#!/bin/sh\ne=${3#*ending=\\'}\ne=${e%%\\'}\n%s\n", script);
    root_put("/gnuplot", text);
    snprintf(search, sizeof search, "%s:/usr/bin:/bin", root);
    cr_assert(chmod(root_path("/gnuplot"), 0700) == 0 && setenv("PATH", search, 1) == 0);
}

/* Returns the error of plot_gnuplot when `gnuplot` is this shell script, with a limit of 1 s. */
static struct text_error run_script(const char *script)
{
    struct text_error err = {""};
    write_gnuplot(script);
    const int status = plot_gnuplot(root, "x=1", "throughput.gp", 1, &err);
    cr_assert(status == (strcmp(script, "exit 0") == 0 ? 0 : -1), "%d: %s", status, err.text);
    return err;
}

Test(gnuplot, has_a_time_limit, .init = root_make, .fini = root_remove, .timeout = 30)
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

Test(gnuplot, failures_are_told_apart, .init = root_make, .fini = root_remove)
{
    cr_assert(run_script("exit 0").text[0] == '\0');
    struct text_error err = run_script("echo 'no such\033[2J terminal' >&2; exit 3");
    cr_assert(strstr(err.text, "exit status 3: no such"), "%s", err.text);
    cr_assert(!strchr(err.text, '\033'), "control characters are passed on");
    err = run_script("kill -9 $$");
    cr_assert(strstr(err.text, "died of signal 9"), "%s", err.text);
}

Test(gnuplot, a_program_that_is_not_there_or_cannot_be_executed, .init = root_make,
     .fini = root_remove)
{
    struct text_error err = {""};
    cr_assert(setenv("PATH", root, 1) == 0);
    cr_assert(plot_gnuplot("/", "x=1", "throughput.gp", 1, &err) == -1);
    cr_assert(strstr(err.text, "was not found"), "%s", err.text);
    root_put("/gnuplot", "");
    cr_assert(chmod(root_path("/gnuplot"), 0600) == 0);
    cr_assert(plot_gnuplot("/", "x=1", "throughput.gp", 1, &err) == -1);
    cr_assert(strstr(err.text, "exit status 126"), "%s", err.text);
    cr_assert(chmod(root_path("/gnuplot"), 0700) == 0);
    cr_assert(plot_gnuplot("/no/such/folder", "x=1", "throughput.gp", 1, &err) == -1);
    cr_assert(strstr(err.text, "exit status 126"), "%s", err.text);
}

/* Ids get the name of the figure, in tags only; and there are both pictures or none. */
Test(gnuplot, a_figure_is_both_pictures, .init = root_make)
{
    char line[160];
    struct text_error err = {""};
    write_gnuplot("printf '\\211PNG\\r\\n\\032\\nrest\\0\\0\\0\\0IEND\\256B`\\202' >x.png$e\n"
                  "echo \"<?xml?><a id='b' id=\\\"c\\\" href='#b' f='url(#d)'> "
                  "id='e' url(#f)</a></svg>\" >x.svg$e");
    cr_assert(plot_draw(root, "x", false, &err) == 0, "%s", err.text);
    FILE *picture = fopen(root_path("/x.svg"), "r");
    cr_assert(picture && fgets(line, sizeof line, picture) && fclose(picture) == 0);
    cr_assert_str_eq(line, "<?xml?><a id='x_b' id=\"x_c\" href='#x_b' f='url(#x_d)'> "
                           "id='e' url(#f)</a></svg>\n");
    write_gnuplot("echo '<?xml?><a></a></svg>' >x.svg$e; echo no >x.png$e");
    cr_assert(plot_draw(root, "x", false, &err) == -1);
    cr_assert_str_eq(err.text, "gnuplot made no usable 'x.png'");
    write_gnuplot("echo '<?xml?><a></a></svg>' >x.svg$e\n"
                  "printf '\\211PNG\\r\\n\\032\\nrest of a picture' >x.png$e");
    cr_assert(plot_draw(root, "x", false, &err) == -1);
    cr_assert_str_eq(err.text, "gnuplot made no usable 'x.png'");
    write_gnuplot("echo '<?xml?><a></a></svg' >x.svg$e");
    cr_assert(plot_draw(root, "x", false, &err) == -1);
    cr_assert_str_eq(err.text, "gnuplot made no usable 'x.svg'");
    text_remove(root, "gnuplot");
    cr_assert(rmdir(root) == 0, "a file is left");
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
