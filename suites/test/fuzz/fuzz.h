/* fuzz.h: what a target is, and what it may ask of the code that it is about.
 *
 * A target is a file here: one parser, its input as bytes, and what must hold whatever they are.
 * libFuzzer makes inputs for it (preset fuzz); replay.c runs those of a folder, in every build. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Ends the program with `what` where it does not hold: the input is then kept as one that crashes.
 */
void fuzz_must(bool holds, const char *what);
/* An error's text: there, of one line, and nothing that drives a terminal. */
void fuzz_must_be_line(const char *text);
/* The same of a text that is only shown through command_complain. */
void fuzz_must_show(const char *text);

/* A copy with a 0 behind it and nothing more, so that a sanitizer sees what reads on. To be freed.
 */
char *fuzz_text(const uint8_t *data, size_t bytes);
/* The path of a file of those bytes; the same file every time, gone at the end. */
const char *fuzz_file(const uint8_t *data, size_t bytes);

#endif
