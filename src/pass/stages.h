/* stages.h: the stages that analyse a function, between its graph and its text. Each has a check,
 * and a text for --quipu-dump. */
#ifndef QUIPU_PASS_STAGES_H
#define QUIPU_PASS_STAGES_H

#include "pass/pass.h"

/* Runs all stages on GRAPH, which build_graph has made. With $QUIPU_STRICT, it runs the checks of
 * all stages so far behind each stage, so that the message names the stage that is wrong. Otherwise
 * it runs all checks once, behind the last stage.
 * makes: all facts in GRAPH   maintains: the unit */
void run_stages(struct pass_state *state, struct graph *graph);

/* Returns the name of stage NUMBER, or NULL if there is none. Bit NUMBER of the option `dump`
 * selects it. */
const char *stage_name(unsigned number);

#endif
