/* digest.c: the vectors of FIPS 180-4, and that each byte and the length count. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"

Test(digest, known)
{
    static const struct {
        const char *text, *hex;
    } sample[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char hex[DIGEST_HEX];

    for (size_t i = 0; i < sizeof sample / sizeof *sample; ++i) {
        cr_assert_eq(digest_sha256(sample[i].text, strlen(sample[i].text), hex), 0);
        cr_assert_str_eq(hex, sample[i].hex);
    }
}

Test(digest, million)
{
    size_t bytes = 1000000;
    char *text = malloc(bytes), hex[DIGEST_HEX];

    cr_assert_not_null(text);
    memset(text, 'a', bytes);
    cr_assert_eq(digest_sha256(text, bytes, hex), 0);
    cr_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(text);
}

/* A configuration in which OpenSSL has no SHA-256 changes nothing. */
Test(digest, no_configuration)
{
    char path[] = "/tmp/lockstep-digest-XXXXXX", hex[DIGEST_HEX];
    FILE *file = fdopen(mkstemp(path), "w");

    cr_assert_not_null(file);
    cr_assert_gt(fprintf(file, "openssl_conf = all\n[all]\nproviders = list\n[list]\nnull = on\n"
                               "[on]\nactivate = 1\n"),
                 0);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(setenv("OPENSSL_CONF", path, 1), 0);
    cr_assert_eq(digest_sha256("abc", 3, hex), 0);
    cr_assert_eq(strncmp(hex, "ba7816bf", 8), 0);
    cr_assert_eq(remove(path), 0);
}
