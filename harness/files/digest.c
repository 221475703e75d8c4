/* The only file that knows libcrypto. The system's OpenSSL configuration is not read: a digest must
 * not depend on a file of the machine that it runs on. */

#include "files/files.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

int digest_sha256(const void *data, size_t bytes, char hex[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;

    hex[0] = '\0';
    if (!OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) ||
        !EVP_Digest(data, bytes, digest, &size, EVP_sha256(), NULL) || size != (DIGEST_HEX - 1) / 2)
        return -1;
    for (unsigned i = 0; i < size; ++i) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[DIGEST_HEX - 1] = '\0';
    return 0;
}
