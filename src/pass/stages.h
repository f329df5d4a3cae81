/* stages.h: what is found out about a function between its graph and its text, one stage behind the
 * other, each with its check and its text for --quipu-dump. */
#ifndef QUIPU_PASS_STAGES_H
#define QUIPU_PASS_STAGES_H

#include "pass/pass.h"

/* Runs all stages on GRAPH, which build_graph has made.  With $QUIPU_STRICT all that holds by then
 * is checked behind each of them, so that the stage is named that has broken it; else once, behind
 * the last.
 * makes: all that GRAPH tells   maintains: the unit */
void run_stages(struct pass_state *state, struct graph *graph);

/* Name of stage NUMBER; NULL: there are no more.  Bit NUMBER of the option `dump` means it. */
const char *stage_name(unsigned number);

#endif
