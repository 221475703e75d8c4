/* calls_run.c: runs a command with one call that fails, in a new folder. */
#include "calls_run.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "process.h"

int fault_remove(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    char below[FAULT_TEXT];

    while (folder && (entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (fault_remove(below) != 0) {
            closedir(folder);
            return -1;
        }
    }
    if (folder)
        closedir(folder);
    if (strcmp(path, ".") == 0)
        return 0;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

char *fault_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    char *text = NULL;

    if (!file)
        return NULL;
    if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) &&
        (text = malloc((size_t)info.st_size + 1))) {
        *bytes = fread(text, 1, (size_t)info.st_size, file);
        text[*bytes] = '\0';
    }
    fclose(file);
    return text;
}

char *fault_old(const char *path, size_t *bytes)
{
    static const char text[] = "an earlier file\n";
    char input[FAULT_TEXT], *old;

    snprintf(input, sizeof input, "../input/%s", path);
    if ((old = fault_read(input, bytes)))
        return old;
    *bytes = sizeof text - 1;
    return strdup(text);
}

/* Writes an old file; for FOLDER/FILE it makes the folder, too. */
static int put_old(const char *path)
{
    char folder[FAULT_TEXT];
    const char *slash = strrchr(path, '/');
    size_t bytes = 0;
    char *text = fault_old(path, &bytes);
    FILE *file = NULL;

    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 0 : (int)(slash - path), path);
    if (text && (folder[0] == '\0' || mkdir(folder, 0777) == 0 || errno == EEXIST))
        file = fopen(path, "w");
    const bool good = file && fwrite(text, 1, bytes, file) == bytes;

    free(text);
    return file && fclose(file) == 0 && good ? 0 : -1;
}

static void calls_run_read_text(const char *path, char text[FAULT_TEXT])
{
    size_t bytes;
    char *all = fault_read(path, &bytes);

    snprintf(text, FAULT_TEXT, "%s", all == NULL ? "" : all);
    free(all);
}

int fault_run(const struct fault_place *place, const struct fault_command *command,
              const struct fault_point *point, struct fault_end *end)
{
    struct fault_page *page = place->page;
    const char *const set[][2] = {
        {"LD_PRELOAD", place->shim}, {"TORTURE_CALLS", place->page_path}, {NULL, NULL}};
    char *argument[FAULT_ARGUMENTS + 2];
    int n = 0;
    pid_t pid;

    *end = (struct fault_end){.status = 0};
    memset(page, 0, sizeof *page);
    page->process = point->process;
    page->kind = (int32_t)point->kind;
    page->n = point->n;
    page->error = point->error;
    page->stays = point->stays;
    if (fault_remove(".") != 0)
        return -1;
    for (int i = 0; command->old[i]; ++i)
        if (put_old(command->old[i]) != 0)
            return -1;
    argument[n++] = (char *)place->program;
    for (int i = 0; command->argument[i]; ++i)
        argument[n++] = (char *)command->argument[i];
    argument[n] = NULL;
    pid = process_start(argument, set, "../out", "../err");
    if (pid < 0)
        return -1;
    end->hangs = !process_wait(pid, place->limit_s, &end->status);
    end->leftover = process_leftover(end->hangs ? 0 : 2) > 0 && !end->hangs;
    calls_run_read_text("../out", end->out);
    calls_run_read_text("../err", end->err);
    return 0;
}
