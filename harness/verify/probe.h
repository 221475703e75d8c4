/* verify/probe.h: the probe step of chains of linear layers, whose numbers are rounded. */
#ifndef HARNESS_VERIFY_PROBE_H
#define HARNESS_VERIFY_PROBE_H

#include "verify/bounded.h"
#include "verify/model.h"

/* Fills activations, gradients of them and outputs, with bounds; inputs and upstream are there. */
int verify_probe_chain(struct verify *v, struct text_error *why);
/* The bounds of row i of a weight's gradient, which is want, and of the bias's as element in. */
void verify_probe_row(const struct verify *v, const struct verify_layer *layer, size_t i,
                      const double *want, double *bound);
/* Turns bounds of n gradients into those of the updated parameters: the product, the difference and
 * what the gradients carry. */
void verify_probe_update(size_t n, const double *updated, double *bound);

#endif
