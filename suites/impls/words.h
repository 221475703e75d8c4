/* words.h: the words of impl.h as text: capabilities, dialects with the choices that each allows,
 * statuses, types of elements. JSON, messages and documents use them. */
#ifndef IMPLS_WORDS_H
#define IMPLS_WORDS_H

#include "impl.h"

#define IMPL_CAPABILITIES 29 /* bits of enum impl_capability */
#define IMPL_MAX_CHOICES  3

/* The word of a single bit; "unknown" for anything else. The bit of a word; 0: no such word. */
const char *impl_capability_word(uint64_t capability);
uint64_t impl_capability_of(const char *word);

/* The word of a dialect, and the dialect of a word; -1: no such word. */
const char *impl_dialect_word(enum impl_dialect dialect);
int impl_dialect_of(const char *word);
/* Fills the choices that a dialect has, and the rest of the list with IMPL_UNDECLARED; returns how
 * many there are. */
int impl_dialect_choices(enum impl_dialect dialect, enum impl_choice choices[IMPL_MAX_CHOICES]);
bool impl_dialect_allows(enum impl_dialect dialect, enum impl_choice choice);

const char *impl_choice_word(enum impl_choice choice);
enum impl_choice impl_choice_of(const char *word); /* IMPL_UNDECLARED: no such word */

/* "shape" <-> IMPL_ESHAPE; -1: unknown. */
int impl_status_of(const char *word);
const char *impl_status_word(int status);
/* Lists statuses, bits 1 << IMPL_E..., with the exception that counts as each if a layer in Python
 * raises it: "inval (in Python TypeError), shape (in Python ValueError)". */
const char *impl_status_list(unsigned statuses, char *text, size_t bytes);

const char *impl_dtype_word(enum impl_dtype dtype);
enum impl_dtype impl_dtype_of(const char *word); /* IMPL_NONE: no such word */
size_t impl_dtype_bytes(enum impl_dtype dtype);

#endif
