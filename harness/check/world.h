/* check/world.h: an implementation whose ranks are in processes that a launcher starts.
 *
 * `lockstep world` speaks as PROTOCOL.md says, so check sees one implementation behind a pipe. It
 * starts crowds of `lockstep rank`, tells them each request, and hears what became of it. */
#ifndef HARNESS_CHECK_WORLD_H
#define HARNESS_CHECK_WORLD_H

int world_main(int argc, char **argv);
int rank_main(int argc, char **argv);

#endif
