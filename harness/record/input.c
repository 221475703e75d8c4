/* record/input.c: reads the files that a command line names, or says what they are instead. */
#include "record/input.h"

#include "command/command.h"
#include "record/roles.h"

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

static int read_records(const char *command, const char *path, bool steps,
                        const char *const how[INPUT_KINDS], struct record_file *file)
{
    struct text_error err = {{0}};

    if ((steps ? record_read_steps : record_read)(path, file, &err) != 0)
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

int input_records(const char *command, const char *path, const char *const how[INPUT_KINDS],
                  struct record_file *file)
{
    return read_records(command, path, false, how, file);
}

int input_steps(const char *command, const char *path, struct record_file *file)
{
    return read_records(command, path, true, NULL, file);
}
