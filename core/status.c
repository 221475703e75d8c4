/* status.c: error records. The function that decides an error writes its text, once. */
#include "dp.h"

#include <stdarg.h>
#include <stdio.h>

const char *dp_status_name(int status)
{
    static const char *const names[] = {"OK",      "EINVAL", "ENOMEM",  "ENODEV",
                                        "EDEVICE", "ESHAPE", "ENOTSUP", "EFAULT"};
    const int count = (int)(sizeof names / sizeof *names);
    return status <= 0 && -status < count ? names[-status] : "unknown";
}

int dp_fail(struct dp_error *err, int status, const char *format, ...)
{
    if (err && err->status == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
        err->status = status;
    }
    return status;
}
