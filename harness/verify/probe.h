/* verify/probe.h: the probe step of chains of linear layers, whose numbers are rounded. */
#ifndef HARNESS_VERIFY_PROBE_H
#define HARNESS_VERIFY_PROBE_H

#include "verify/bounded.h"
#include "verify/model.h"

/* Fills activations, gradients of them and outputs, with bounds; inputs and upstream must be filled
 * before. */
int verify_probe_chain(struct verify *v, struct text_error *why);
/* Computes the bounds of row i of a weight's gradient, which is want, and that of the bias's as
 * element `in`. */
void verify_probe_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                      const double *want, double *bound);
/* Turns bounds of n gradients into those of the updated parameters. They have the roundings of the
 * product and the difference, and the errors of the gradients. */
void verify_probe_update(size_t n, const double *updated, double *bound);

#endif
