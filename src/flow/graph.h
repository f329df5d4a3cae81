/* graph.h: the control flow graph of one function, and what the analyses find out about it.
 *
 * Ends of edges are numbered as in the binary's notes (format/notes.h): 0 is the outside, 1 ...
 * block_count the blocks, then the hubs.  Each analysis names the fields that it fills. */
#ifndef QUIPU_FLOW_GRAPH_H
#define QUIPU_FLOW_GRAPH_H

#include "asm/frames.h"
#include "asm/unit.h"
#include "format/event.h"
#include "format/notes.h"
#include "x86/decode.h"
#include "x86/sequence.h"

struct graph_instruction {
    uint32_t statement;       /* the instruction's own */
    uint32_t first_statement; /* the same, or its first prefix's */
    uint32_t place;           /* where code in front of it stands: the same, or its pinned label */
    uint32_t end;             /* where code behind it stands: its own, or a label behind the call */
    const struct decoded *decoded;
    bool loses_scratch; /* find_liveness: goes to where nothing is kept in %r11 */
};

typedef VECTOR(uint32_t) index_list;

struct basic_block {
    /* build_graph */
    uint32_t first, count; /* instructions [first, first + count) */
    bool padding;          /* an alignment's: no instructions of the text */
    bool gap;       /* padding of no bytes, in front of a label whose instruction may fault */
    bool switched;  /* its last instruction is: control may go where nobody tells */
    bool continues; /* only one that repeats parts it from the block above: both are one */
    uint8_t fragment;
    uint32_t offset; /* of its first byte in the fragment, as the compiler made it */
    uint32_t size;   /* bytes, as the compiler made it */
    const uint8_t *padding_bytes;
    bool countable;      /* code can be put in it: in padding, in front of it */
    uint32_t closed;     /* but not in front of so many first instructions; of a gap: or not */
    uint32_t aligned_by; /* the alignment directive right above it, a statement, or NONE; of padding
                            its own; of a gap the label */
    index_list in, out;  /* edges */
    /* unroll_loops */
    uint32_t turns_to; /* 0: none; n: it ended a loop that begins with block n - 1, is followed by
                          the loop's copies, and its jump is turned round */
    uint32_t copy;     /* 0: none; n: block n - 1 is its copy, or its next one */
    uint32_t copy_of;  /* 0: none; n: it is a copy of block n - 1 */
    bool counts_turns; /* it is a chord, and counts behind its stores */
    /* find_tails */
    bool tail; /* short, and control does not go on behind it: it may be written twice */
    /* find_frequencies */
    uint32_t loop_depth;
    uint32_t cycle;   /* instructions of the shortest way round in the innermost loop; 0: none */
    double frequency; /* executions for each call of the function, a guess or a profile's */
    /* find_liveness */
    uint32_t live_in, live_out; /* register and flag sets: LIVE(registers, flags) */
    /* place_chords */
    bool chord;
    /* passes */
    uint32_t cell; /* 0: none; n: cell n - 1 counts it */
    increment_list increments;
};

struct edge {
    /* build_graph */
    uint32_t source, target;
    enum quipu_edge_kind kind;
    bool countable; /* code can be put on it, and on no block instead */
    bool jumps;     /* control gets there by a jump that is taken on a condition */
    bool stays;     /* to the outside: which stands for the hub, too, so it may come in again */
    /* find_ticks */
    bool ticks; /* the software instruction counter goes on by one */
    /* find_frequencies */
    double frequency;
    /* place_chords */
    bool chord;
    /* passes */
    uint32_t cell; /* 0: none; n: cell n - 1 counts it */
    increment_list increments;
};

/* What the events on the way to a node sum up to, above what the cell holds there. */
struct node_potential {
    int32_t value;
    bool known;
};

/* Where statements of the unit are in a graph.  One serves all functions of a unit, one behind the
 * other: it holds what the graph that was built last has of it. */
struct graph_index {
    uint32_t *row_of;   /* by statement: the unwinding row in force in front of it */
    uint32_t *block_of; /* by label statement: the block that it begins, or NONE */
};

struct graph_index make_graph_index(struct unit *unit);

struct graph {
    const struct unit *unit;
    const struct asm_function *function;
    bool turns; /* instructions that repeat are blocks of their own, and counted behind, too */
    bool calls_query;    /* while any call is away, its place must be one where cells are exact */
    struct arena *arena; /* the function's: all that hangs on the graph */
    VECTOR(struct graph_instruction) instructions;
    VECTOR(struct basic_block) blocks;
    VECTOR(struct edge) edges;
    frame_rows rows; /* build_graph; index->row_of leads to them */
    const struct graph_index *index;
    uint32_t text_blocks; /* blocks in the order of the text; their copies come behind */
    bool guessed;         /* find_frequencies: there was no earlier run to tell */
    uint32_t hub_count;
    uint16_t reserved;   /* find_liveness: registers that hold no value across calls */
    uint32_t cell_count; /* pass/count.c */
    struct node_potential *potentials[QUIPU_EVENTS]; /* pass/event.c: by kind of the set, by node */
};

/* Registers in the low half, flags above. */
#define LIVE(registers, flags) ((uint32_t)(registers) | (uint32_t)(flags) << 16)

static inline bool is_block(const struct graph *graph, uint32_t end) {
    return end >= 1 && end <= graph->blocks.count;
}

/* The block's last instruction, or NULL for padding. */
const struct graph_instruction *last_instruction(const struct graph *graph,
                                                 const struct basic_block *block);

/* Whether a call is of a function that is known to come back: then it has no edge to the outside.
 */
bool call_returns(const struct graph *graph, const struct graph_instruction *call);

/* Whether the block ends in a jump to a label, which may stand elsewhere too. */
bool has_plain_jump(const struct graph *graph, const struct basic_block *block);

/* Whether control may come to the block from the outside. */
bool is_entered_from_outside(const struct graph *graph, const struct basic_block *block);

/* Whether the call, a statement, is one that compilers put at functions' begins, of a function that
 * keeps all registers: a profiler's, or one that grows the stack. */
bool calls_hook(const struct unit *unit, uint32_t statement);

/* Whether the call or jump is of a helper that finds values in any register, or gives them all
 * back: a hook, a stub for indirect branches, a check, what tells where thread-local memory is. */
bool has_own_convention(const struct unit *unit, uint32_t statement);

/* Whether the call is a half of an access to a thread-local variable, which linkers rewrite. */
bool is_tls_call(const struct unit *unit, uint32_t statement);

/* CALLS_QUERY: all calls get an edge to the outside.  TURNS: instructions that repeat are blocks of
 * their own.  INDEX is the unit's.
 * requires: measure_unit   makes: blocks, edges, and the function's part of INDEX
 * Returns NULL, or the reason why the function must be left alone. */
const char *build_graph(struct graph *graph, const struct unit *unit, struct graph_index *index,
                        const struct asm_function *function, struct arena *arena, bool calls_query,
                        bool turns);

/* Counts of an earlier run.  Places are those of the code as the compiler made it: a fragment and
 * the offset of an instruction in it. */
struct code_place {
    uint32_t fragment, offset;
};

struct earlier_counts {
    void *context;
    /* Looks the function up for the questions that follow.  Returns false where it is not known, or
     * was other code then. */
    bool (*find_function)(void *context, const char *name, uint32_t instructions);
    double (*count_instruction)(void *context, struct code_place place);
    /* From a block's last instruction to another's first. */
    double (*count_edge)(void *context, struct code_place from, struct code_place to);
};

/* EARLIER may be NULL: then frequencies are guessed.
 * requires: build_graph    makes: loop_depth, cycle, frequency of blocks and edges */
void find_frequencies(struct graph *graph, const struct earlier_counts *earlier);

/* requires: find_frequencies    makes: copies of small loops that store */
void unroll_loops(struct graph *graph);

/* requires: unroll_loops    makes: tail of blocks */
void find_tails(struct graph *graph);

/* Whether code on EDGE may be followed by a copy of the target, in place of a jump there. */
bool leads_to_tail(const struct graph *graph, const struct edge *edge);

/* requires: unroll_loops    makes: ticks of edges */
void find_ticks(struct graph *graph);

/* Whether EDGE leads behind a call that may return more than once, or on another stack. */
bool returns_again(const struct graph *graph, const struct edge *edge);

/* Which edges and blocks code can be put on.  build_graph and unroll_loops do it.  Arcs that no
 * code can be put on close no cycle. requires: blocks, edges    makes: countable */
void find_countable(struct graph *graph);

/* requires: measure_unit    makes: keeps_scratch of functions and of the unit */
void find_scratch_keepers(struct unit *unit);

/* Whether the instruction, statement INDEX, calls or jumps to a function across which nothing is
 * kept in %r11, and which finds nothing there.
 * requires: find_scratch_keepers */
bool loses_scratch(const struct unit *unit, const struct decoded *decoded, uint32_t index);

/* RESERVED: registers that the compiler was told not to use.
 * requires: build_graph, find_scratch_keepers
 * makes: reserved, loses_scratch of instructions, live_in, live_out of blocks */
void find_liveness(struct graph *graph, uint16_t reserved);

/* What is live in front of instruction INDEX of BLOCK; INDEX may be the block's count.
 * requires: find_liveness */
uint32_t live_before(const struct graph *graph, const struct basic_block *block, uint32_t index);

/* Whether the function, which begins with block INDEX, may read what its caller left in one of
 * REGISTERS, or hand it on to a function that it jumps to.  Not to one that it calls: what is no
 * argument gets there by an instruction that writes it.
 * requires: build_graph */
bool reads_at_begin(const struct graph *graph, uint32_t index, uint16_t registers);

enum placement {
    PLACEMENT_TREE,  /* on the chords of a maximum spanning tree */
    PLACEMENT_BLOCK, /* in every block, and on edges that blocks do not tell */
};

/* The nodes of the flow equations: a block is two, in and out; the outside and each hub are one.
 * Node 0 is the outside. */
uint32_t in_node(const struct graph *graph, uint32_t end);
uint32_t out_node(const struct graph *graph, uint32_t end);
uint32_t node_count(const struct graph *graph);

/* What code costs there, for each call of the function; 1: that of one instruction.
 * requires: find_frequencies, find_liveness */
double block_cost(const struct graph *graph, const struct basic_block *block);
double edge_cost(const struct graph *graph, const struct edge *edge);

/* requires: find_frequencies, find_liveness   makes: chord of blocks and edges */
void place_chords(struct graph *graph, enum placement placement);

/* Whether arcs that no code can be put on close a cycle. */
bool closes_cycle(const struct graph *graph);

#endif
