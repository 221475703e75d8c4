/* replay.c: runs a target on the files of a folder, once each. For builds without libFuzzer. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

static int run_file(const char *folder, const char *name)
{
    static uint8_t bytes[FILE_BYTES_MAX];
    char path[1024];
    FILE *file;
    size_t n;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        !(file = fopen(path, "rb"))) {
        fprintf(stderr, "replay: %s/%s: %s\n", folder, name, strerror(errno));
        return -1;
    }
    n = fread(bytes, 1, sizeof bytes, file);
    if (ferror(file) || n == sizeof bytes) {
        fprintf(stderr, "replay: %s cannot be read, or has %d bytes or more\n", path,
                FILE_BYTES_MAX);
        fclose(file);
        return -1;
    }
    fclose(file);
    printf("%s\n", name);
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, n);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    size_t n = 0;
    int status = 0;

    if (!folder) {
        fprintf(stderr, "usage: replay FOLDER   (of inputs)%s%s\n", argc == 2 ? ": " : "",
                argc == 2 ? strerror(errno) : "");
        return 2;
    }
    for (const struct dirent *entry; status == 0 && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        status = run_file(argv[1], entry->d_name);
        ++n;
    }
    closedir(folder);
    if (status == 0 && n == 0)
        fprintf(stderr, "replay: %s has no inputs\n", argv[1]);
    return status != 0 || n == 0 ? 2 : 0;
}
