/* report_gnuplot.c: running gnuplot so that a failure is seen.
 *
 * No shell. gnuplot's output goes to a temporary name and counts only if gnuplot exits 0 and the
 * file begins as its format does (it may leave an empty file, or write pictures to stdout). */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIME_LIMIT_SECONDS = 60 };

/* In the child, whose stderr is a file: 127 stands for "there is no gnuplot", as in a shell. */
static void exec_gnuplot(const char *directory, char *const arguments[], int complaints)
{
    int null = open("/dev/null", O_RDWR);

    alarm(TIME_LIMIT_SECONDS);

    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(complaints, STDERR_FILENO) < 0 || chdir(directory) != 0)
        _exit(126);
    execvp(arguments[0], arguments);
    _exit(errno == ENOENT ? 127 : 126);
}

/* What went wrong, with the first line of gnuplot's own words that is not a warning. */
static void describe(int status, FILE *complaints, struct record_error *err)
{
    char line[160] = "";

    rewind(complaints);
    while (fgets(line, sizeof line, complaints) != NULL)
        if (line[0] != '\n' && strstr(line, "warning") == NULL)
            break;
    line[strcspn(line, "\n")] = '\0';
    report_clean(line);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(err->text, sizeof err->text, "gnuplot was stopped: it took more than %d s",
                 TIME_LIMIT_SECONDS);
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
                   struct record_error *err)
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
        exec_gnuplot(directory, arguments, fileno(complaints));
    while (child > 0 && waitpid(child, &status, 0) < 0)
        child = errno == EINTR ? child : -1;
    if (child < 0)
        snprintf(err->text, sizeof err->text, "cannot start gnuplot: %s", strerror(errno));
    else if (status != 0)
        describe(status, complaints, err);
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

int report_accept(const char *directory, const char *temporary, const char *name, const void *begin,
                  size_t bytes, struct record_error *err)
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
