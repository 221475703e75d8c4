/* SHA-256 of bytes, by libcrypto: what chains the lines of a record and names what was run. */
#ifndef HARNESS_DIGEST_H
#define HARNESS_DIGEST_H

#include <stddef.h>

enum { DIGEST_HEX = 65 };

/* 64 digits of 0-9 and a-f, and a 0 after them; with any error -1, and hex is "". */
int digest_sha256(const void *data, size_t bytes, char hex[DIGEST_HEX]);

#endif
