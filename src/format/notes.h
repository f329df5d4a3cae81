/* notes.h: the notes that the shim puts into a binary. Readers use them to solve the counts.
 *
 * All numbers are little endian. Did you change the format? Increment QUIPU_NOTE_VERSION.
 * doc/format.md describes it for authors of other tools. */
#ifndef QUIPU_FORMAT_NOTES_H
#define QUIPU_FORMAT_NOTES_H

#include <stdint.h>

/* Two sections, which are not loaded, so they cost the running program nothing. `strip` keeps them.
 * Each is a sequence of records without padding. A record begins with its size.
 *
 * QUIPU_UNITS_SECTION: one record for each assembled unit:
 *     u32 size; u8 kind = QUIPU_NOTE_UNIT; u8 version
 *     asciz quipu's version, asciz source file (`.file`), asciz compiler (`.ident`, may be empty),
 *     asciz options ("count,placement=tree")
 * and, for a unit that counts events,
 *     u32 size; u8 kind = QUIPU_NOTE_EVENTS; u8 version
 *     u64 cells           address of the module's first cell of events (format/event.h), as linked
 *     u32 kinds           bit n: the unit counts kind n (enum quipu_event); then for each from
 *                         QUIPU_EVENT_CLASSES on, by increasing number:
 *         asciz name, asciz pattern
 * and one record for each function that was left as it is:
 *     u32 size; u8 kind = QUIPU_NOTE_LEFT_ALONE; u8 version
 *     u64 address, asciz name, asciz reason
 *
 * QUIPU_FUNCTIONS_SECTION: one record for each function. It belongs to its function (COMDAT group,
 * link order), so the linker drops it together with the function.
 *     u32 size; u8 kind = QUIPU_NOTE_FUNCTION; u8 version
 *     u64 address         of its entry, as linked
 *     u64 cells           address of its first cell, as linked
 *     asciz name          the symbol
 *     uleb fragments      then for each: u64 address as linked   (fragment 0 contains the entry; a
 *                         further one is `f.cold` or another piece)
 *     uleb blocks         then for each block, in the order of the original text:
 *         u8 flags            QUIPU_BLOCK_...
 *         uleb fragment
 *         uleb offset         of its first instruction in the fragment, in the compiler's output
 *         uleb size           in bytes, in the compiler's output
 *         uleb cell           0: none; n: cell n - 1 counts the block
 *         code block:         u32 start: distance of its first instruction from the fragment's
 *                             address in this binary. Its instructions are there without a gap and
 *                             without inserted ones. They are those of the compiler, except that a
 *                             jump at the end may be longer. So decode instructions until `size`
 *                             bytes are used up; a direct jump uses up all that is left.
 *         copy (QUIPU_BLOCK_COPY): behind the flags only uleb block, of which it is a copy (0: the
 *                             first), and uleb cell. The shim doubles small loops. Readers add the
 *                             counts of a copy, and of its edges, to those of the block. Copies
 *                             are behind all other blocks.
 *         padding block:      `size` bytes: no-operations that the assembler puts before an
 *                             aligned label. In the original they run before the next block. In
 *                             this binary the padding is different, and no block contains it.
 *                             Then uleb line: 0: they have the line of the instruction before them;
 *                             2 n: line n of its file; 2 n + 1: line n of the file of the
 *                             instruction behind them.
 *     uleb hubs           number of hubs (below)
 *     uleb edges          then for each: uleb source, uleb target, u8 kind (enum quipu_edge_kind),
 *                         uleb cell (0: none; n: cell n - 1 counts the edge)
 *   Ends of edges: 0 is the outside (caller, callee that did not return, unwinder, other function);
 *   1 ... blocks are the blocks; blocks + 1 ... are the hubs. A hub is between indirect jumps and
 *   their possible targets: control may pass from any source to any target.
 *
 * Flow: let each block be two nodes, in and out, with an arc from in to out. If the block has a
 * cell, it counts this arc. Let each edge s -> t be an arc from s's out to t's in. The outside and
 * each hub are one node. The flow into a node equals the flow out of it. The arcs without a cell
 * form a spanning forest, so they follow from the others, from the leaves on.
 *
 * The flow of a QUIPU_EDGE_CALL_LOST is the number of calls that have not returned. It is negative
 * in a forked child, or after setjmp returned again: calls returned that were not made here. */

#define QUIPU_UNITS_SECTION     ".quipu.units"
#define QUIPU_FUNCTIONS_SECTION ".quipu.functions"

enum {
    QUIPU_NOTE_VERSION = 5
};

enum quipu_note_kind {
    QUIPU_NOTE_UNIT = 1,
    QUIPU_NOTE_FUNCTION = 2,
    QUIPU_NOTE_LEFT_ALONE = 3,
    QUIPU_NOTE_EVENTS = 4,
    QUIPU_NOTE_TRACE = 5, /* format/trace.h */
};

enum quipu_block_flags {
    QUIPU_BLOCK_PADDING = 1, /* no-operations of the assembler; bytes are in the note */
    QUIPU_BLOCK_COPY = 2,    /* a copy of another block's code */
    QUIPU_BLOCK_TURNED = 4,  /* the conditional jump at its end has the opposite condition here */
};

enum quipu_edge_kind {
    QUIPU_EDGE_ENTRY = 1,     /* outside -> block: called or jumped to from elsewhere */
    QUIPU_EDGE_PAD = 2,       /* outside -> block: landing pad or other entry, not by a call */
    QUIPU_EDGE_FALL = 3,      /* into the next block, unconditional */
    QUIPU_EDGE_JUMP = 4,      /* direct jump, unconditional */
    QUIPU_EDGE_TAKEN = 5,     /* conditional jump taken */
    QUIPU_EDGE_NOT_TAKEN = 6, /* conditional jump not taken */
    QUIPU_EDGE_INDIRECT = 7,  /* to or from a hub, or an indirect jump with one known table */
    QUIPU_EDGE_CALL = 8,      /* call block -> the next block: the call returned */
    QUIPU_EDGE_CALL_LOST = 9, /* call block -> outside: the call did not return */
    QUIPU_EDGE_RETURN = 10,   /* block -> outside: return */
    QUIPU_EDGE_TAIL = 11,     /* block -> outside: jump to another function */
    QUIPU_EDGE_STOP = 12,     /* block -> outside: trap, or end of the text */
};

#endif
