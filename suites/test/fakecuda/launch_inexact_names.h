/* launch_inexact_names.h: put before core/cpu/kernels_ref_*.c, which then are the twins of kernels
 * that differ from them in exp and tanh alone. */
#ifndef LOCKSTEP_LAUNCH_INEXACT_NAMES_H
#define LOCKSTEP_LAUNCH_INEXACT_NAMES_H

#include "launch_inexact.h"

#include <math.h>

#define expf                twin_expf
#define tanhf               twin_tanhf
#define dp_ref_lstm         twin_lstm
#define dp_ref_lstm_grad    twin_lstm_grad
#define dp_ref_capsule      twin_capsule
#define dp_ref_capsule_grad twin_capsule_grad

#endif
