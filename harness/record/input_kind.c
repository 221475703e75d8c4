/* record/input_kind.c: tells which kind of file of this program a file is. */
#include "record/input.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/weights.h"

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
