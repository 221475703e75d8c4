/* plot/gnuplot.c: running gnuplot so that a failure is seen.
 *
 * No shell. gnuplot's output goes to a temporary name and counts only if gnuplot exits 0 and the
 * file begins and ends as its format does (it may leave an empty file, or a part of one, or write
 * pictures to stdout). */
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/child.h"
#include "files/stop.h"
#include "files/temporary.h"

enum { TIME_LIMIT_SECONDS = 60 };

/* In the child, whose stderr is a file: 127 stands for "there is no gnuplot", as in a shell. */
static void exec_gnuplot(const char *directory, char *const arguments[], unsigned seconds,
                         int complaints)
{
    int null = open("/dev/null", O_RDWR);
    sigset_t time_is_up;

    /* Outlives exec; the parent may have blocked or ignored it. */
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

/* Describes the error, with the first line of gnuplot's output that is not a warning. */
static void describe(int status, unsigned seconds, FILE *complaints, struct text_error *err)
{
    char line[160] = "";

    rewind(complaints);
    while (fgets(line, sizeof line, complaints))
        if (line[0] != '\n' && !strstr(line, "warning"))
            break;
    line[strcspn(line, "\n")] = '\0';
    text_clean(line, ' ');
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

int plot_gnuplot(const char *directory, const char *variables, const char *script, unsigned seconds,
                 struct text_error *err)
{
    char name[] = "gnuplot", defaults[] = "-d", expression[] = "-e";
    char *arguments[] = {name, defaults, expression, (char *)variables, (char *)script, NULL};
    FILE *complaints = tmpfile();
    int status = 0;
    pid_t child = -1;

    if (complaints)
        child = child_fork(CHILD_SAME_GROUP);
    if (child == 0)
        exec_gnuplot(directory, arguments, seconds, fileno(complaints));
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno == EINTR && stop_requested())
            kill(child, SIGTERM);
        if (errno == EINTR)
            continue;
        kill(child, SIGKILL); /* it would go on to write */
        waitpid(child, NULL, 0);
        child = -1;
    }
    if (child < 0)
        snprintf(err->text, sizeof err->text, "cannot start gnuplot: %s", strerror(errno));
    else if (status != 0)
        describe(status, seconds, complaints, err);
    if (complaints)
        fclose(complaints);
    return child > 0 && status == 0 ? 0 : -1;
}

struct format {
    const char *begin, *end;
    size_t n_end; /* bytes of end, which may have a 0 */
};

/* On a disk that is full gnuplot leaves the beginning of a picture, and exits 0. */
static bool is_whole(FILE *file, const struct format *format)
{
    const size_t n_begin = strlen(format->begin);
    char begin[16] = "", end[16] = "";
    size_t n = 0;

    if (fread(begin, 1, n_begin, file) == n_begin && fseek(file, -(long)sizeof end, SEEK_END) == 0)
        n = fread(end, 1, sizeof end, file);
    while (n > 0 && end[n - 1] == '\n')
        --n;
    return n >= format->n_end && memcmp(begin, format->begin, n_begin) == 0 &&
           memcmp(end + n - format->n_end, format->end, format->n_end) == 0;
}

/* A file that begins and ends as its format does gets its final name. */
static int accept_file(const char *directory, const char *temporary, const char *name,
                       const struct format *format, struct text_error *err)
{
    char from[1024], to[1024];
    bool whole = false;
    FILE *file = NULL;

    if (snprintf(from, sizeof from, "%s/%s", directory, temporary) < (int)sizeof from &&
        snprintf(to, sizeof to, "%s/%s", directory, name) < (int)sizeof to)
        file = fopen(from, "r");
    if (file) {
        whole = is_whole(file, format);
        fclose(file);
    }
    if (whole && rename(from, to) == 0)
        return 0;
    snprintf(err->text, sizeof err->text, "gnuplot made no usable '%s'", name);
    text_remove(directory, temporary);
    return -1;
}

/* Ids of one picture must not be those of another on the same page: each gets the figure's name.
 * gnuplot escapes text, so that what looks like a tag is one. */
static void prefix_ids(FILE *in, FILE *out, const char *name)
{
    static const char *const before[] = {" id='", " id=\"", "href='#", "url(#"};
    char recent[8] = "";
    bool tag = false;

    for (int c = getc(in); c != EOF; c = getc(in)) {
        putc(c, out);
        tag = c == '<' || (tag && c != '>');
        memmove(recent, recent + 1, sizeof recent - 2);
        recent[sizeof recent - 2] = (char)c;
        for (size_t i = 0; tag && i < sizeof before / sizeof before[0]; ++i) {
            const size_t length = strlen(before[i]);

            if (memcmp(recent + sizeof recent - 1 - length, before[i], length) == 0)
                fprintf(out, "%s_", name);
        }
    }
}

static int finish_svg(const char *directory, const char *file, struct text_error *err)
{
    char path[1088], name[64];
    struct text_out out;
    FILE *in = NULL;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
    if (snprintf(path, sizeof path, "%s/%s", directory, file) < (int)sizeof path)
        in = fopen(path, "r");
    if (!in)
        return text_fail(err, "cannot read '%s' again", file);
    if (text_open(&out, directory, file, TEXT_PLAIN, err) != 0) {
        fclose(in);
        return -1;
    }
    prefix_ids(in, out.file, name);
    const bool cut = ferror(in);

    fclose(in);
    if (!cut)
        return text_close(&out, err);
    snprintf(err->text, sizeof err->text, "cannot read '%s' again", file);
    text_discard(&out);
    return -1;
}

/* The pictures of a figure; the last only where gnuplot lays it out. */
static const struct picture {
    const char *after; /* the name of the figure */
    bool svg;
} pictures[] = {{".svg", true}, {".png", false}, {PLOT_NARROW_SVG, true}};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

static int accept_pictures(const char *directory, const char *name, size_t n,
                           const struct temporary_ending *ending, struct text_error *err)
{
    static const char iend[] = "\0\0\0\0IEND\xae\x42\x60\x82";
    static const struct format svg = {"<?xml", "</svg>", 6};
    static const struct format png = {"\x89PNG\r\n\x1a\n", iend, 12};
    int result = 0;

    for (size_t i = 0; i < n && result == 0; ++i) {
        char temporary[96], final[64];

        snprintf(final, sizeof final, "%.32s%s", name, pictures[i].after);
        snprintf(temporary, sizeof temporary, "%s%s", final, ending->text);
        result = accept_file(directory, temporary, final, pictures[i].svg ? &svg : &png, err);
        if (result == 0 && pictures[i].svg)
            result = finish_svg(directory, final, err);
    }
    return result;
}

/* New files for gnuplot to write to, which opens whatever has the name. */
static int make_pictures(const char *directory, const char *name, size_t n,
                         const struct temporary_ending *ending, struct text_error *err)
{
    char path[1088] = "";
    int fd = 0;

    for (size_t i = 0; i < n && fd >= 0; ++i) {
        snprintf(path, sizeof path, "%.960s/%.60s%s%s", directory, name, pictures[i].after,
                 ending->text);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0)
            close(fd);
    }
    if (fd >= 0)
        return 0;
    return text_fail(err, "cannot write '%.180s': %s", path, strerror(errno));
}

int plot_draw(const char *directory, const char *name, bool narrow, struct text_error *err)
{
    const size_t n = narrow ? PICTURES : PICTURES - 1;
    struct temporary_ending ending = {""};
    char variables[128], file[128];
    int result = temporary_ending(&ending);

    if (result != 0)
        snprintf(err->text, sizeof err->text, "no random name: %s", strerror(errno));
    else if ((result = make_pictures(directory, name, n, &ending, err)) == 0) {
        snprintf(variables, sizeof variables, "figure='%s';pictures=%zu;ending='%s'", name, n,
                 ending.text);
        result = plot_gnuplot(directory, variables, "draw.gp", TIME_LIMIT_SECONDS, err);
    }
    if (result == 0)
        result = accept_pictures(directory, name, n, &ending, err);
    /* One of them is no figure. */
    for (size_t i = 0; result != 0 && i < n; ++i) {
        snprintf(file, sizeof file, "%.32s%s", name, pictures[i].after);
        text_remove(directory, file);
        snprintf(file, sizeof file, "%.32s%s%s", name, pictures[i].after, ending.text);
        text_remove(directory, file);
    }
    return result;
}
