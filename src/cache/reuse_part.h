/* reuse_part.h: stack distances of one part of a trace, so that the parts together give exactly
 * what one run over the whole trace gives.
 *
 * The distance of a line that the part has used before is known. That of its first use in the part
 * is not: the part keeps these uses in their order, and the lines at its end in the order of their
 * last uses. Whoever has the lines in front of the part in that order finds the distances: a first
 * use is behind the lines that the part has used until then, and those older ones that were used
 * behind it.
 *
 * Source: Niu, Dinan, Lu and Sadayappan, "PARDA: a fast parallel reuse distance analysis
 * algorithm", IPDPS 2012, section IV. */
#ifndef QUIPU_CACHE_REUSE_PART_H
#define QUIPU_CACHE_REUSE_PART_H

#include "cache/part_file.h"
#include "cache/reuse.h"

/* Appends to CONTENTS, of a part file, the distances of PART of SOURCE, a trace. LINE is the size
 * of a line in bytes. WINDOW is as for reuse_begin. If it is not 0, the references in front of the
 * part are counted, too: only that tells where windows begin. */
void count_reuse_part(struct buffer *contents, struct reference_source *source, uint32_t line,
                      uint64_t window, struct part_choice part);

/* Begins REUSE with all parts of a trace, added up in their order. SOURCE gets the path, and
 * accesses that were left out. If FILES do not fit together, or one is corrupt, the program ends
 * with an error. Warns of threads that could not be followed. */
void merge_reuse_parts(struct reuse *reuse, struct reference_source *source,
                       const part_files *files);

#endif
