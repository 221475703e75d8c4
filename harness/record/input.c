/* record/input.c: reads the files that a command line names, or says what they are instead. */
#include "record/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "files/weights.h"
#include "record/record.h"

const char *const input_kind_words[INPUT_KINDS] = {
    [INPUT_RECORDS] = "records of `lockstep sweep`",
    [INPUT_CHECK] = "a result of `lockstep check`",
    [INPUT_PEER] = "a record of `scripts/compare-pytorch`",
    [INPUT_LIMITS] = "the JSON of `lockstep sweep limits`",
    [INPUT_TRAIN] = "the record of `lockstep train`",
    [INPUT_WEIGHTS] = "weights of `lockstep train`"};

/* Each kind of file has one of these texts in its first lines. */
static const struct {
    const char *text;
    enum input_kind kind;
} signs[] = {{"\"lockstep/run/", INPUT_RECORDS},   {"\"lockstep/cell/", INPUT_RECORDS},
             {"\"lockstep/check/", INPUT_CHECK},   {"\"lockstep/peer/", INPUT_PEER},
             {"\"lockstep/limits/", INPUT_LIMITS}, {"\"lockstep/train/", INPUT_TRAIN},
             {WEIGHTS_MAGIC, INPUT_WEIGHTS}};

enum input_kind input_kind_of(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char text[512] = "";
    struct stat info;
    ssize_t n = -1;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        n = read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; ++i)
        if (strstr(text, signs[i].text))
            return signs[i].kind;
    return INPUT_KINDS;
}

int input_refuse(const char *command, const char *path, enum input_kind wanted, const char *why,
                 const char *const how[INPUT_KINDS])
{
    const enum input_kind is = input_kind_of(path);

    if (is != wanted && is != INPUT_KINDS)
        command_complain(command, "%.400s holds %s, not %s%s", path, input_kind_words[is],
                         input_kind_words[wanted], how && how[is] ? how[is] : "");
    else
        command_complain(command, "%s", why);
    return EXIT_MISUSE;
}

int input_records(const char *command, const char *path, bool steps,
                  const char *const how[INPUT_KINDS], struct record_file *file)
{
    struct text_error err = {{0}};

    if (record_read(path, steps, file, &err) != 0)
        return input_refuse(command, path, INPUT_RECORDS, err.text, how);
    if (file->torn) {
        command_complain(command,
                         "%s: the last line is torn, from byte %ld on; finish the file "
                         "with `lockstep sweep --resume`",
                         path, file->torn_offset);
        record_file_free(file);
        return EXIT_MISUSE;
    }
    record_clean(record_run_fields, &file->run);
    for (size_t c = 0; c < file->n_cells; ++c)
        record_clean(record_cell_fields, &file->cell[c]);
    return 0;
}
