/* report_gnuplot.c: running gnuplot so that a failure is seen.
 *
 * No shell. gnuplot's output goes to a temporary name and counts only if gnuplot exits 0 and the
 * file begins as its format does (it may leave an empty file, or write pictures to stdout). */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIME_LIMIT_SECONDS = 60 };

/* In the child, whose stderr is a file: 127 stands for "there is no gnuplot", as in a shell. */
static void exec_gnuplot(const char *directory, char *const arguments[], unsigned seconds,
                         int complaints)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t time_is_up;

    /* Outlives exec; whoever started us may have blocked or ignored it. */
    sigemptyset(&time_is_up);
    sigaddset(&time_is_up, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &time_is_up, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(complaints, STDERR_FILENO) < 0 || chdir(directory) != 0)
        _exit(126);
    execvp(arguments[0], arguments);
    _exit(errno == ENOENT ? 127 : 126);
}

/* What went wrong, with the first line of gnuplot's own words that is not a warning. */
static void describe(int status, unsigned seconds, FILE *complaints, struct record_error *err)
{
    char line[160] = "";

    rewind(complaints);
    while (fgets(line, sizeof line, complaints) != NULL)
        if (line[0] != '\n' && strstr(line, "warning") == NULL)
            break;
    line[strcspn(line, "\n")] = '\0';
    report_clean(line);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(err->text, sizeof err->text, "gnuplot was stopped: it took more than %u s",
                 seconds);
    else if (WIFSIGNALED(status))
        snprintf(err->text, sizeof err->text, "gnuplot died of signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == 127)
        snprintf(err->text, sizeof err->text,
                 "gnuplot was not found; install gnuplot-nox for the figure");
    else
        snprintf(err->text, sizeof err->text, "gnuplot failed with exit status %d: %s",
                 WEXITSTATUS(status), line);
}

int report_gnuplot(const char *directory, const char *variables, const char *script,
                   unsigned seconds, struct record_error *err)
{
    char name[] = "gnuplot", defaults[] = "-d", expression[] = "-e";
    char *arguments[] = {name, defaults, expression, (char *)variables, (char *)script, NULL};
    FILE *complaints = tmpfile();
    int status = 0;
    pid_t child = -1;

    fflush(NULL);
    if (complaints != NULL)
        child = fork();
    if (child == 0)
        exec_gnuplot(directory, arguments, seconds, fileno(complaints));
    while (child > 0 && waitpid(child, &status, 0) < 0)
        child = errno == EINTR ? child : -1;
    if (child < 0)
        snprintf(err->text, sizeof err->text, "cannot start gnuplot: %s", strerror(errno));
    else if (status != 0)
        describe(status, seconds, complaints, err);
    if (complaints != NULL)
        fclose(complaints);
    return child > 0 && status == 0 ? 0 : -1;
}

void report_remove(const char *directory, const char *name)
{
    char path[1088];

    if (snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path)
        unlink(path);
}

/* The file must begin with these bytes and not be empty, then it gets its final name. */
static int accept_file(const char *directory, const char *temporary, const char *name,
                       const void *begin, size_t bytes, struct record_error *err)
{
    char from[1024], to[1024], head[16] = {0};
    size_t got = 0;
    FILE *file = NULL;

    if (snprintf(from, sizeof from, "%s/%s", directory, temporary) < (int)sizeof from &&
        snprintf(to, sizeof to, "%s/%s", directory, name) < (int)sizeof to)
        file = fopen(from, "r");
    if (file != NULL) {
        got = fread(head, 1, bytes < sizeof head ? bytes : sizeof head, file);
        fclose(file);
    }
    if (got == bytes && memcmp(head, begin, bytes) == 0 && rename(from, to) == 0)
        return 0;
    snprintf(err->text, sizeof err->text, "gnuplot made no usable '%s'", name);
    report_remove(directory, temporary);
    return -1;
}

static int draw(const char *directory, const char *variables, const char *terminal,
                const char *name, const char *begin, struct record_error *err)
{
    char temporary[48], *all = malloc(strlen(variables) + 128);
    int result = -1;

    snprintf(err->text, sizeof err->text, "no memory for the figure");
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    if (all != NULL) {
        sprintf(all, "terminal='%s';out='%s'%s", terminal, temporary, variables);
        result = report_gnuplot(directory, all, "throughput.gp", TIME_LIMIT_SECONDS, err);
    }
    free(all);
    if (result == 0)
        return accept_file(directory, temporary, name, begin, strlen(begin), err);
    report_remove(directory, temporary);
    return -1;
}

int report_draw(const char *directory, const char *variables, struct record_error *err)
{
    struct record_error ignored;
    const char *terminal = "pngcairo";

    if (draw(directory, variables, "svg", "throughput.svg", "<?xml", err) != 0)
        return -1;
    if (report_gnuplot(directory, "set terminal pngcairo", NULL, TIME_LIMIT_SECONDS, &ignored) != 0)
        terminal = "png";
    return draw(directory, variables, terminal, "throughput.png", "\x89PNG\r\n\x1a\n", err);
}
