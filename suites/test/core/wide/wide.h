/* wide.h: included before every file of core that is compiled for double: float is double there.
 * The headers of the system come first, so that only core's own words change. */
#ifndef CORE_WIDE_H
#define CORE_WIDE_H

#define _DEFAULT_SOURCE /* as core/cpu/device.c asks for */

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef _DEFAULT_SOURCE

#ifdef __clang__
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define float double
#define expf  exp
#define fabsf fabs
#define sqrtf sqrt
#define tanhf tanh

#endif
