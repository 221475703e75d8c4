/* calls_files.c: judges the files that a command with a failed call left in its folder.
 *
 * The files are compared with those of a run without a failure, in ../true: numbers from a clock
 * are not compared. Each file is complete, or as it was before. */
#include "calls_run.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A difference is shown with this many bytes before it, and this many in all. */
enum { BEFORE = 30, SHOWN = 50 };

enum whole { WHOLE_BYTES, WHOLE_JSON, WHOLE_LINES, WHOLE_PAGE, WHOLE_NAMES };

/* end: the text at the end of a page. */
static const struct ending {
    const char *ending;
    enum whole whole;
    bool clock; /* there are numbers in it that a clock made */
    const char *end;
} endings[] = {{".jsonl", WHOLE_LINES, true, NULL},
               {".json", WHOLE_JSON, true, NULL},
               {".html", WHOLE_PAGE, false, "</html>\n"},
               {".md", WHOLE_PAGE, true, "\n"},
               {".xml", WHOLE_PAGE, true, "</testsuites>\n"},
               {"_nodes.txt", WHOLE_NAMES, false, "\n"}, /* a node's file cannot be read */
               {"out", WHOLE_BYTES, true, NULL},
               {"", WHOLE_BYTES, false, NULL}};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static const struct ending *ending_of(const char *path)
{
    const struct ending *ending = endings;

    while (!ends_with(path, ending->ending))
        ++ending;
    return ending;
}

/* Members that are left out. Whether a cell had become steady depends on time, and so does whether
 * it took so long that the shares of others are known. A load that cannot be read is recorded as
 * such, and so is a lack of memory for a second model. */
static const struct left_out {
    const char *key;
    char end; /* the character after its value */
} left_out[] = {{"\"steady_state\":", ','},
                {"\"foreign_frac\":", ','},
                {"\"steal_frac\":", ','},
                {"\"load_avg\":", ']'},
                {"\"alone_ns\":", '}'}};

static size_t skip(const char *text, size_t at, size_t bytes)
{
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; ++i)
        if (strncmp(text + at, left_out[i].key, strlen(left_out[i].key)) == 0)
            while (at + 1 < bytes && text[at] != left_out[i].end)
                ++at;
    return at;
}

/* Replaces numbers, also hexadecimal ones, and lists of them by one mark, together with the blanks
 * around. */
static size_t calls_files_fold(char *text, size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes; ++i) {
        i = skip(text, i, bytes);
        const bool number = strchr("0123456789abcdef.-+, ", text[i]) && text[i] != '\0';

        if (!number)
            text[n++] = text[i];
        else if (n == 0 || text[n - 1] != '#')
            text[n++] = '#';
    }
    return n;
}

/* Describes where the two differ; "": nowhere. */
static void calls_files_compare(const char *path, char *a, size_t n_a, char *b, size_t n_b,
                                char where[DIFFERS])
{
    size_t at = 0, from;

    if (ending_of(path)->clock) {
        n_a = calls_files_fold(a, n_a);
        n_b = calls_files_fold(b, n_b);
    }
    while (at < n_a && at < n_b && a[at] == b[at])
        ++at;
    if (at == n_a && at == n_b)
        return;
    from = at > BEFORE ? at - BEFORE : 0;
    snprintf(where, DIFFERS, "'%.*s', not '%.*s'", (int)(n_a - from < SHOWN ? n_a - from : SHOWN),
             a + from, (int)(n_b - from < SHOWN ? n_b - from : SHOWN), b + from);
}

bool fault_same_files(const char *path, const char *other, char where[DIFFERS])
{
    size_t n_a = 0, n_b = 0;
    char *a = fault_read(path, &n_a), *b = fault_read(other, &n_b);

    where[0] = '\0';
    if (a && b)
        calls_files_compare(path, a, n_a, b, n_b, where);
    else
        snprintf(where, DIFFERS, "%s", "one of them is missing");
    free(a);
    free(b);
    return where[0] == '\0';
}

static bool is_json(const char *text, size_t bytes)
{
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    const bool good = root != NULL;

    json_decref(root);
    return good;
}

static bool is_lines(const char *text, size_t bytes)
{
    for (const char *end; bytes > 0; bytes -= (size_t)(end - text) + 1, text = end + 1) {
        end = memchr(text, '\n', bytes);
        if (!end || !is_json(text, (size_t)(end - text)))
            return false;
    }
    return true;
}

/* A file that differs may still be complete: a record of a cell that failed. */
static bool calls_files_is_whole(const char *path)
{
    const struct ending *ending = ending_of(path);
    size_t bytes = 0;
    char *text = fault_read(path, &bytes);
    bool good = false;

    if (!text)
        return false;
    switch (ending->whole) {
    case WHOLE_JSON:
        good = is_json(text, bytes);
        break;
    case WHOLE_LINES:
        good = is_lines(text, bytes);
        break;
    case WHOLE_PAGE:
        good = ends_with(text, ending->end);
        break;
    case WHOLE_NAMES:
        good = bytes == 0 || ends_with(text, ending->end);
        break;
    default:
        break;
    }
    free(text);
    return good;
}

static bool is_one_of(const char *const list[], const char *path)
{
    for (int i = 0; list[i]; ++i)
        if (strcmp(list[i], path) == 0)
            return true;
    return false;
}

/* A file that existed is as it was, or replaced; records are added to it. */
static bool keeps_old(const struct fault_command *command, const char *path, bool *same)
{
    size_t bytes = 0, n_old = 0;
    char *text, *old;
    bool kept = true;

    *same = false;
    if (!is_one_of(command->old, path))
        return true;
    text = fault_read(path, &bytes);
    old = fault_old(path, &n_old);
    if (text && old) {
        const bool begins = bytes >= n_old && memcmp(text, old, n_old) == 0;

        *same = begins && bytes == n_old;
        kept = begins || ending_of(path)->whole != WHOLE_LINES;
    }
    free(text);
    free(old);
    return kept;
}

static bool judge_file(const struct fault_command *command, const char *path, const char *model,
                       char why[256])
{
    char where[DIFFERS];
    bool old;

    if (!keeps_old(command, path, &old)) {
        snprintf(why, 256, "%.200s lost what it held", path);
        return false;
    }
    if (old || fault_same_files(path, model, where) || calls_files_is_whole(path))
        return true;
    snprintf(why, 256, "%.200s is not whole", path);
    return false;
}

/* Returns whether there is another file in a folder; then below is its path, which begins with that
 * of the folder. */
static bool next_file(DIR *folder, const char *path, char below[1024])
{
    const struct dirent *entry;

    do
        entry = readdir(folder);
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    if (entry)
        snprintf(below, 1024, "%s%s%s", strcmp(path, ".") == 0 ? "" : path,
                 strcmp(path, ".") == 0 ? "" : "/", entry->d_name);
    return entry != NULL;
}

/* Every file below path, in the current folder, belongs there and is complete. */
bool fault_judge_folder(const struct fault_command *command, const char *path, char why[256])
{
    char below[1024], model[1100];
    DIR *folder = opendir(path);
    struct stat info;
    bool good = folder != NULL;

    while (good && next_file(folder, path, below)) {
        snprintf(model, sizeof model, "../true/%s", below);
        if (stat(model, &info) != 0) {
            snprintf(why, 256, "%.200s was left behind", below);
            good = false;
        } else if (S_ISDIR(info.st_mode)) {
            good = fault_judge_folder(command, below, why);
        } else {
            good = judge_file(command, below, model, why);
        }
    }
    if (folder)
        closedir(folder);
    return good;
}

bool fault_old_there(const struct fault_command *command, char why[256])
{
    struct stat info;

    for (int i = 0; command->old[i]; ++i) {
        if (stat(command->old[i], &info) != 0) {
            snprintf(why, 256, "%.200s, which was there before, is gone", command->old[i]);
            return false;
        }
    }
    return true;
}

/* Every file below ../true/path is in the current folder, with the same contents. */
bool fault_all_there(const char *path, char why[256])
{
    char below[1024], model[1100], where[DIFFERS];
    DIR *folder;
    struct stat info;
    bool good;

    snprintf(model, sizeof model, "../true/%s", path);
    folder = opendir(model);
    good = folder != NULL;
    while (good && next_file(folder, path, below)) {
        snprintf(model, sizeof model, "../true/%s", below);
        if (stat(model, &info) == 0 && S_ISDIR(info.st_mode)) {
            good = fault_all_there(below, why);
        } else if (!fault_same_files(below, model, where)) {
            snprintf(why, 256, "status 0, but %.90s is another: %.130s", below, where);
            good = false;
        }
    }
    if (folder)
        closedir(folder);
    return good;
}
