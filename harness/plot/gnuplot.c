/* plot/gnuplot.c: running gnuplot so that a failure is seen.
 *
 * No shell. gnuplot's output goes to a temporary name and counts only if gnuplot exits 0 and the
 * file begins and ends as its format does (it may leave an empty file, or a part of one, or write
 * pictures to stdout). */
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/files.h"
#include "launch/child.h"

enum { TIME_LIMIT_SECONDS = 60 };

int plot_gnuplot(const char *directory, const char *variables, const char *script, unsigned seconds,
                 struct text_error *err)
{
    char line[160] = "";
    char *arguments[] = {"gnuplot", "-d", "-e", (char *)variables, (char *)script, NULL};
    const struct launch_how how = {.program = arguments[0],
                                   .argument = arguments,
                                   .directory = directory,
                                   .heard = LAUNCH_ERROR_ALONE,
                                   .seconds = seconds};
    struct program output;

    if (launch_program(&how, &output) != 0)
        return text_fail(err, "cannot start gnuplot: %s", strerror(errno));
    const int status = output.status, exited = WEXITSTATUS(status);
    const bool well = !output.interrupted && !output.timed_out && status == 0;

    /* Its first line that is not a warning describes the error. */
    for (const char *at = output.text; at && *at != '\0';) {
        const size_t length = strcspn(at, "\n");

        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line), at);
        at += length + (at[length] == '\n');
        if (line[0] != '\0' && !strstr(line, "warning"))
            break;
    }
    free(output.text);
    text_clean(line, ' ');
    if (well)
        return 0;
    if (output.interrupted)
        return text_fail(err, "gnuplot was stopped by a signal");
    if (output.timed_out)
        return text_fail(err, "gnuplot was stopped: it took more than %u s", seconds);
    if (WIFSIGNALED(status))
        return text_fail(err, "gnuplot died of signal %d", WTERMSIG(status));
    if (exited == 127)
        return text_fail(err, "gnuplot was not found; install gnuplot-nox for the figure");
    return text_fail(err, "gnuplot failed with exit status %d: %s", exited, line);
}

/* The pictures of a figure; the last only where gnuplot lays it out. */
static const struct picture {
    const char *after; /* the name of the figure */
    bool svg;
} pictures[] = {{".svg", true}, {".png", false}, {PLOT_NARROW_SVG, true}};
enum { PICTURES = sizeof pictures / sizeof pictures[0] };

/* Whether a file begins and ends as its format does: on a disk that is full gnuplot leaves the
 * beginning of a picture, and exits 0. */
static bool is_whole_picture(const char *path, bool svg)
{
    static const char iend[] = "\0\0\0\0IEND\xae\x42\x60\x82", png[] = "\x89PNG\r\n\x1a\n";
    const char *const first = svg ? "<?xml" : png, *const last = svg ? "</svg>" : iend;
    const size_t n_first = strlen(first), n_last = svg ? 6 : sizeof iend - 1;
    FILE *file = fopen(path, "r");
    char begin[16] = "", end[16] = "";
    size_t n = 0;

    if (!file)
        return false;
    if (fread(begin, 1, n_first, file) == n_first && fseek(file, -(long)sizeof end, SEEK_END) == 0)
        n = fread(end, 1, sizeof end, file);
    fclose(file);
    while (n > 0 && end[n - 1] == '\n')
        --n;
    return n >= n_last && memcmp(begin, first, n_first) == 0 &&
           memcmp(end + n - n_last, last, n_last) == 0;
}

/* Ids of one picture must not be those of another on the same page: each gets the figure's name.
 * gnuplot escapes text, so that what looks like a tag is one. */
static int prefix_ids(const char *directory, const char *file, const char *path,
                      struct text_error *err)
{
    static const char *const before[] = {" id='", " id=\"", "href='#", "url(#"};
    FILE *in = fopen(path, "r");
    char recent[8] = "";
    struct text_out out;
    bool tag = false;

    if (!in)
        return text_fail(err, "cannot read '%s' again", file);
    if (text_open(&out, directory, file, TEXT_PLAIN, err) != 0) {
        fclose(in);
        return -1;
    }
    for (int c = getc(in); c != EOF; c = getc(in)) {
        putc(c, out.file);
        tag = c == '<' || (tag && c != '>');
        memmove(recent, recent + 1, sizeof recent - 2);
        recent[sizeof recent - 2] = (char)c;
        for (size_t i = 0; tag && i < sizeof before / sizeof before[0]; ++i) {
            const size_t length = strlen(before[i]);

            if (memcmp(recent + sizeof recent - 1 - length, before[i], length) == 0)
                fprintf(out.file, "%.*s_", (int)strcspn(file, "."), file);
        }
    }
    const bool cut = ferror(in);

    fclose(in);
    if (!cut)
        return text_close(&out, err);
    text_discard(&out);
    return text_fail(err, "cannot read '%s' again", file);
}

int plot_draw(const char *directory, const char *name, bool narrow, struct text_error *err)
{
    const size_t n = narrow ? PICTURES : PICTURES - 1;
    struct temporary_ending ending = {""};
    char variables[128], file[64], temporary[96], from[1088], to[1088];
    int result = 0;

    if (temporary_ending(&ending) != 0)
        result = text_fail(err, "no random name: %s", strerror(errno));
    /* New files for gnuplot to write to, which opens whatever has the name. */
    for (size_t i = 0; i < n && result == 0; ++i) {
        snprintf(from, sizeof from, "%.960s/%.32s%s%s", directory, name, pictures[i].after,
                 ending.text);
        const int fd = open(from, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

        if (fd < 0)
            result = text_fail(err, "cannot write '%.180s': %s", from, strerror(errno));
        else
            close(fd);
    }
    if (result == 0) {
        snprintf(variables, sizeof variables, "figure='%s';pictures=%zu;ending='%s'", name, n,
                 ending.text);
        result = plot_gnuplot(directory, variables, "draw.gp", TIME_LIMIT_SECONDS, err);
    }
    /* A picture that is whole gets its final name. */
    for (size_t i = 0; i < n && result == 0; ++i) {
        snprintf(file, sizeof file, "%.32s%s", name, pictures[i].after);
        snprintf(from, sizeof from, "%.960s/%s%s", directory, file, ending.text);
        snprintf(to, sizeof to, "%.960s/%s", directory, file);
        if (!is_whole_picture(from, pictures[i].svg) || rename(from, to) != 0)
            result = text_fail(err, "gnuplot made no usable '%s'", file);
        else if (pictures[i].svg)
            result = prefix_ids(directory, file, to, err);
    }
    /* One of them is no figure. */
    for (size_t i = 0; result != 0 && i < n; ++i) {
        snprintf(file, sizeof file, "%.32s%s", name, pictures[i].after);
        snprintf(temporary, sizeof temporary, "%s%s", file, ending.text);
        text_remove(directory, file);
        text_remove(directory, temporary);
    }
    return result;
}
