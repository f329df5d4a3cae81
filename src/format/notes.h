/* notes.h: the notes that the shim leaves in a binary, from which readers solve the counts.
 *
 * All numbers are little endian.  Who changes them gives them a new QUIPU_NOTE_VERSION.
 * doc/format.md says the same to authors of other tools. */
#ifndef QUIPU_FORMAT_NOTES_H
#define QUIPU_FORMAT_NOTES_H

#include <stdint.h>

/* Two sections that are not loaded, so they cost the running program nothing; `strip` keeps them.
 * Each is a sequence of records, one behind the other with no padding, each led by its size.
 *
 * QUIPU_UNITS_SECTION: one record for each assembled unit:
 *     u32 size; u8 kind = QUIPU_NOTE_UNIT; u8 version
 *     asciz quipu's version, asciz source file (`.file`), asciz compiler (`.ident`, may be empty),
 *     asciz options ("count,placement=tree")
 * and, of a unit that counts events,
 *     u32 size; u8 kind = QUIPU_NOTE_EVENTS; u8 version
 *     u64 cells           address of the module's first cell of events (format/event.h), as linked
 *     u32 kinds           bit n: the unit counts kind n (enum quipu_event); then for each from
 *                         QUIPU_EVENT_CLASSES on, by rising number:
 *         asciz name, asciz pattern
 *
 * QUIPU_FUNCTIONS_SECTION: one record for each function.  It follows its function (COMDAT group,
 * link order), so a function that the linker drops takes its record along.
 *     u32 size; u8 kind = QUIPU_NOTE_FUNCTION; u8 version
 *     u64 address         of its entry, as linked
 *     u64 cells           address of its first cell, as linked
 *     asciz name          the symbol
 *     uleb fragments      then for each: u64 address as linked   (fragment 0 holds the entry; a
 *                         further one is `f.cold` or another piece)
 *     uleb blocks         then for each block, in the order of the original text:
 *         u8 flags            QUIPU_BLOCK_...
 *         uleb fragment
 *         uleb offset         of its first instruction in the fragment as the compiler made it
 *         uleb size           in bytes, as the compiler made it
 *         uleb cell           0: none; n: cell n - 1 counts the block
 *         code block:         u32 start: distance of its first instruction from the fragment's
 *                             address in this binary.  Its instructions stand there without a gap
 *                             and without an inserted one, the same as the compiler made them,
 *                             but a jump at its end may be longer; so: decode instructions until
 *                             `size` bytes are used up; a direct jump takes up all that is left.
 *         copy (QUIPU_BLOCK_COPY): after the flags only uleb block, of which it is a copy (0 is the
 *                             first), and uleb cell.  The shim doubles small loops; readers add
 *                             the counts of a copy, and of its edges, to the block's.  Copies come
 *                             behind all other blocks.
 *         padding block:      `size` bytes: no-operations that the assembler put before an aligned
 *                             label.  They run in the original, on the way into the next block; in
 *                             this binary the padding differs and is nobody's.
 *     uleb hubs           number of hubs (below)
 *     uleb edges          then for each: uleb source, uleb target, u8 kind (enum quipu_edge_kind),
 *                         uleb cell (0: none; n: cell n - 1 counts the edge)
 *   Ends of edges: 0 is the outside (caller, callee that did not return, unwinder, other function);
 *   1 ... blocks are the blocks; blocks + 1 ... are the hubs.  A hub stands between indirect jumps
 *   and their possible targets: any source may go to any target.
 *
 *     u32 size; u8 kind = QUIPU_NOTE_LEFT_ALONE; u8 version
 *     u64 address, asciz name, asciz reason          a function that was left as it is
 *
 * Flow: let every block be two nodes, in and out, joined by an arc from in to out that the block's
 * cell counts, if it has one; let edge s -> t be an arc from s's out to t's in; the outside and
 * each hub are one node.  What flows into a node flows out of it.  The arcs without a cell form a
 * spanning forest, so they follow from the others, by leaves.
 * A QUIPU_EDGE_CALL_LOST flow is calls that have not returned; in a forked child, or after setjmp
 * returned again, it is negative: returned without having been called here. */

#define QUIPU_UNITS_SECTION     ".quipu.units"
#define QUIPU_FUNCTIONS_SECTION ".quipu.functions"

enum {
    QUIPU_NOTE_VERSION = 3
};

enum quipu_note_kind {
    QUIPU_NOTE_UNIT = 1,
    QUIPU_NOTE_FUNCTION = 2,
    QUIPU_NOTE_LEFT_ALONE = 3,
    QUIPU_NOTE_EVENTS = 4,
};

enum quipu_block_flags {
    QUIPU_BLOCK_PADDING = 1, /* no-operations of the assembler's; bytes are in the note */
    QUIPU_BLOCK_COPY = 2,    /* a copy of another block's code */
    QUIPU_BLOCK_TURNED = 4,  /* the conditional jump at its end has the opposite condition here */
};

enum quipu_edge_kind {
    QUIPU_EDGE_ENTRY = 1,     /* outside -> block: called or jumped to from elsewhere */
    QUIPU_EDGE_PAD = 2,       /* outside -> block: landing pad, or another way in that is no call */
    QUIPU_EDGE_FALL = 3,      /* into the block behind, unconditional */
    QUIPU_EDGE_JUMP = 4,      /* direct jump, unconditional */
    QUIPU_EDGE_TAKEN = 5,     /* conditional jump taken */
    QUIPU_EDGE_NOT_TAKEN = 6, /* conditional jump not taken */
    QUIPU_EDGE_INDIRECT = 7,  /* to or from a hub, or an indirect jump with one known table */
    QUIPU_EDGE_CALL = 8,      /* call block -> the block behind it: the call returned */
    QUIPU_EDGE_CALL_LOST = 9, /* call block -> outside: the call did not return */
    QUIPU_EDGE_RETURN = 10,   /* block -> outside: return */
    QUIPU_EDGE_TAIL = 11,     /* block -> outside: jump to another function */
    QUIPU_EDGE_STOP = 12,     /* block -> outside: trap, or text that ends */
};

#endif
