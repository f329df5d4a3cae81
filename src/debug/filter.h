/* filter.h: passes of an instruction that are looked at within the process, not at stops.
 *
 * Where a place is in a loop, its instruction may be passed millions of times in front of it. The
 * process gets code that counts the passes and compares the registers (x86/pass_filter.h), and
 * stops only where they are equal. Memory is compared then, as elsewhere. Before anybody sees the
 * process, or copies it, it is again as it was. */
#ifndef QUIPU_DEBUG_FILTER_H
#define QUIPU_DEBUG_FILTER_H

#include "debug/target.h"

/* Whether the instruction of TARGET, which is in the present slice of a program without ticks, can
 * be replaced; no point is there. */
bool may_filter(const struct timeline *timeline, const struct target *target);

/* Steps on where the process is within the instructions that are replaced. No point stops it.
 * Returns false if that fails. */
bool leave_replaced(struct timeline *timeline, const struct target *target);

/* Whether the instruction at the present place can be replaced besides the target's. */
bool may_filter_beside(const struct timeline *timeline, const struct target *target);

/* The present place is in the target's slice. Goes on to the pass COUNT of the target's
 * instruction, not counting one at the present place; or, with COUNT 0, to the target. PASSES
 * becomes the number of passes, with the last one. REACHED becomes REACHED_HALT where a point is in
 * front of it. Returns false if the process cannot be changed: then nothing was done. */
bool go_filtered(struct timeline *timeline, struct target *target, uint64_t count,
                 struct halt *halt, uint64_t *passes, enum reached *reached);

/* The present place is in front of the target, and no point stops the process. Goes on to the
 * target. PASSES becomes the number of passes of the instruction at ADDRESS on the way, which is
 * not near the target's. Returns false as above. */
bool count_passes(struct timeline *timeline, struct target *target, uint64_t address,
                  uint64_t *passes, enum reached *reached);

/* Where the passes of TARGET, a state, cannot be filtered, it becomes the first place behind it
 * where they can, if no point is up to there: `shift` instructions further. */
void shift_target(struct timeline *timeline, struct target *target, const struct stand *stand);

#endif
