/* fuzz.h: declarations of a target, and the conditions that it may check in the code under test.
 *
 * A target is a file in this folder: one parser, its input as bytes, and conditions that hold for
 * all inputs. libFuzzer makes inputs for it (preset fuzz); replay.c runs those of a folder, in
 * every build. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Ends the program with `what` if the condition does not hold: the input is then kept as one that
 * crashes. */
void fuzz_must(bool holds, const char *what);
/* The text of an error must not be empty; it is one line, and has nothing that a terminal obeys. */
void fuzz_must_be_line(const char *text);
/* The same for a text that is only shown through command_complain. */
void fuzz_must_show(const char *text);

/* Returns a copy with a 0 after it and nothing more, so that a sanitizer finds reads beyond it. The
 * caller frees it. */
char *fuzz_text(const uint8_t *data, size_t bytes);
/* Returns the path of a file with those bytes; it is the same file every time, and is removed at
 * the end. */
const char *fuzz_file(const uint8_t *data, size_t bytes);

#endif
