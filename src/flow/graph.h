/* graph.h: the control flow graph of one function, and what the analyses find out about it.
 *
 * Ends of edges have the same numbers as in the binary's notes (format/notes.h): 0 is the outside,
 * 1 ... block_count are the blocks, then the hubs follow. Each analysis names the fields that it
 * fills. */
#ifndef QUIPU_FLOW_GRAPH_H
#define QUIPU_FLOW_GRAPH_H

#include "asm/frames.h"
#include "asm/unit.h"
#include "format/event.h"
#include "format/notes.h"
#include "x86/decode.h"
#include "x86/sequence.h"

struct graph_instruction {
    uint32_t statement;       /* of the instruction */
    uint32_t first_statement; /* the same, or that of its first prefix */
    uint32_t place;           /* code before the instruction is inserted in front of this
                                 statement: the same, or its pinned label */
    uint32_t end;             /* code after the instruction is inserted behind this statement:
                                 its own, or a label after a call */
    const struct decoded *decoded;
    bool loses_scratch; /* find_liveness: it leads to code across which %r11 keeps no value */
};

typedef VECTOR(uint32_t) index_list;

struct basic_block {
    /* build_graph */
    uint32_t first, count; /* instructions [first, first + count) */
    bool padding;          /* the padding of an alignment: no instructions of the text */
    bool gap;           /* padding of no bytes, in front of a label whose instruction may fault */
    bool switched;      /* its last instruction is switched: control may continue at an unknown
                           address */
    bool address_taken; /* a label in front of it is not the function's, and its address is taken:
                           an indirect jump may lead to it, also where no edge says so */
    bool continues;     /* only an instruction that repeats separates it from the block above: both
                           are one block */
    uint8_t fragment;
    uint32_t offset; /* of its first byte in the fragment, in the code as compiled */
    uint32_t size;   /* bytes, in the code as compiled */
    const uint8_t *padding_bytes;
    bool countable;      /* code can be inserted in it; in padding: in front of it */
    bool recorded;       /* a feature's hook `prepare`: code there tells that it runs, so it is a
                            chord; only of countable ones */
    uint32_t closed;     /* the number of first instructions before which nothing may be
                            inserted; of a gap: not 0 if nothing may be inserted */
    uint32_t aligned_by; /* statement: the alignment directive directly above, or NONE; of
                            padding: its own; of a gap: the label */
    index_list in, out;  /* edges */
    /* unroll_loops */
    uint32_t turns_to; /* 0: none; n: it ends a loop that begins with block n - 1; the copies of
                          the loop follow it, and its jump is inverted */
    uint32_t copy;     /* 0: none; n: block n - 1 is its copy, or its next one */
    uint32_t copy_of;  /* 0: none; n: it is a copy of block n - 1 */
    bool counts_turns; /* it is a chord, and counts after its stores */
    /* find_tails */
    bool tail; /* short, and control never falls through: it may be copied */
    /* find_frequencies */
    uint32_t loop_depth;
    uint32_t cycle;   /* instructions of the shortest cycle through it in the innermost loop; 0:
                         none */
    double frequency; /* executions for each call of the function: a guess, or from a profile */
    /* find_liveness */
    uint32_t live_in, live_out; /* sets of registers and flags: LIVE(registers, flags) */
    /* place_chords */
    bool chord;
    bool only_adds; /* pass/event/event.c: a chord only because it adds to the events; the other
                       chords determine it */
    /* passes */
    uint32_t cell; /* 0: none; n: cell n - 1 counts it */
    increment_list increments;
};

struct edge {
    /* build_graph */
    uint32_t source, target;
    enum quipu_edge_kind kind;
    bool countable; /* code can be inserted on it, and no block has the same count */
    bool recorded;  /* as of blocks */
    bool jumps;     /* control gets there by a conditional jump that is taken */
    bool stays;     /* to the outside, which serves as the hub, too: control may come back into
                       the function */
    /* find_ticks */
    bool ticks; /* the software instruction counter advances by one */
    /* find_frequencies */
    double frequency;
    /* place_chords */
    bool chord;
    bool only_adds; /* pass/event/event.c: a chord only because it adds to the events; the other
                       chords determine it */
    /* passes */
    uint32_t cell; /* 0: none; n: cell n - 1 counts it */
    increment_list increments;
};

/* The potential of a node: the sum of the events up to it, minus what the cell holds there. */
struct node_potential {
    int32_t value;
    bool known;
};

/* Finds the statements of the unit in a graph. One index serves all functions of a unit, one after
 * the other. It describes the graph that was built last. */
struct graph_index {
    uint32_t *row_of;   /* by statement: the unwinding row in force before it */
    uint32_t *block_of; /* by statement of a label: the block that the label begins, or NONE */
};

struct graph_index make_graph_index(struct unit *unit);

struct graph {
    const struct unit *unit;
    const struct asm_function *function;
    bool turns; /* instructions that repeat are blocks of their own, with a counter behind them,
                   too */
    bool calls_query;    /* cells must be exact at every call while it runs */
    struct arena *arena; /* of the function: contains all data of the graph */
    VECTOR(struct graph_instruction) instructions;
    VECTOR(struct basic_block) blocks;
    VECTOR(struct edge) edges;
    frame_rows rows; /* build_graph; index->row_of has indexes of them */
    const struct graph_index *index;
    uint32_t text_blocks; /* blocks in the order of the text; copies follow them */
    bool guessed;         /* find_frequencies: there are no counts of an earlier run */
    uint32_t hub_count;
    uint16_t reserved;   /* find_liveness: registers that hold no value across calls */
    uint32_t cell_count; /* pass/count/count.c */
    struct node_potential *potentials[QUIPU_EVENTS]; /* pass/event/event.c: by kind of the set, then
                                                        by node */
};

/* Registers are in the low half, flags in the high half. */
#define LIVE(registers, flags) ((uint32_t)(registers) | (uint32_t)(flags) << 16)

static inline bool is_block(const struct graph *graph, uint32_t end) {
    return end >= 1 && end <= graph->blocks.count;
}

/* Returns the block's last instruction, or NULL for padding. */
const struct graph_instruction *last_instruction(const struct graph *graph,
                                                 const struct basic_block *block);

/* Whether the call is of a function that is known to return. Such a call has no edge to the
 * outside. */
bool call_returns(const struct graph *graph, const struct graph_instruction *call);

/* Whether the target of the jump at the block's end is a compiler's local label. Then the jump can
 * be copied to another position. */
bool has_plain_jump(const struct graph *graph, const struct basic_block *block);

/* Whether control may enter the block from the outside. */
bool is_entered_from_outside(const struct graph *graph, const struct basic_block *block);

/* Whether STATEMENT, a call, is one that compilers insert at the begin of functions, and its callee
 * keeps all registers: a profiler's function, or one that grows the stack. */
bool calls_hook(const struct unit *unit, uint32_t statement);

/* Whether STATEMENT, a call or jump, leads to a helper that may read any register, or that keeps
 * all of them: a hook, a stub for indirect branches, a check, or a function that returns the
 * address of thread-local memory. */
bool has_own_convention(const struct unit *unit, uint32_t statement);

/* Whether STATEMENT, a call, is a part of an access to a thread-local variable. Linkers rewrite
 * such accesses. */
bool is_tls_call(const struct unit *unit, uint32_t statement);

/* CALLS_QUERY: all calls get an edge to the outside. TURNS: instructions that repeat are blocks of
 * their own. INDEX belongs to the unit. Returns NULL, or the reason why the function must be left
 * alone.
 * requires: measure_unit   makes: blocks, edges, and the function's part of INDEX */
const char *build_graph(struct graph *graph, const struct unit *unit, struct graph_index *index,
                        const struct asm_function *function, struct arena *arena, bool calls_query,
                        bool turns);

/* Counts of an earlier run. Positions are those in the code as compiled: a fragment, and the offset
 * of an instruction in it. */
struct code_place {
    uint32_t fragment, offset;
};

struct earlier_counts {
    void *context;
    /* Finds the function to which the next questions refer. Returns false if the function is not
     * known, or had other code in that run. */
    bool (*find_function)(void *context, const char *name, uint32_t instructions);
    double (*count_instruction)(void *context, struct code_place place);
    /* FROM is the last instruction of one block, TO the first instruction of another. */
    double (*count_edge)(void *context, struct code_place from, struct code_place to);
};

/* EARLIER may be NULL. Then frequencies are guessed.
 * requires: build_graph   makes: loop_depth, cycle, frequency of blocks and edges */
void find_frequencies(struct graph *graph, const struct earlier_counts *earlier);

/* requires: find_frequencies   makes: copies of small loops */
void unroll_loops(struct graph *graph);

/* requires: unroll_loops   makes: tail of blocks */
void find_tails(struct graph *graph);

/* Whether a copy of the target may follow code on EDGE, in place of a jump to the target. */
bool leads_to_tail(const struct graph *graph, const struct edge *edge);

/* requires: unroll_loops   makes: ticks of edges */
void find_ticks(struct graph *graph);

/* Whether EDGE leads from a call to the code behind it, and the call may return more than once, or
 * on another stack. */
bool returns_again(const struct graph *graph, const struct edge *edge);

/* Finds the edges and blocks in which code can be inserted. build_graph and unroll_loops call it.
 * build_graph returns a reason if arcs that cannot hold code close a cycle.
 * requires: blocks, edges   makes: countable */
void find_countable(struct graph *graph);

/* requires: measure_unit   makes: keeps_scratch of functions and of the unit */
void find_scratch_keepers(struct unit *unit);

/* Whether the instruction, statement INDEX, calls or jumps to a function that reads no value in
 * %r11, and across which no value is kept in %r11.
 * requires: find_scratch_keepers */
bool loses_scratch(const struct unit *unit, const struct decoded *decoded, uint32_t index);

/* RESERVED: registers that the compiler was told not to use.
 * requires: build_graph, find_scratch_keepers
 * makes: reserved, loses_scratch of instructions, live_in, live_out of blocks */
void find_liveness(struct graph *graph, uint16_t reserved);

/* Returns the registers and flags that are live before instruction INDEX of BLOCK. INDEX may be the
 * block's count.
 * requires: find_liveness */
uint32_t live_before(const struct graph *graph, const struct basic_block *block, uint32_t index);

/* Whether the function may read a value that its caller left in one of REGISTERS, or pass it to a
 * function that it jumps to. Block INDEX is its first block. A call passes no such value: arguments
 * are written by an instruction before the call.
 * requires: build_graph */
bool reads_at_begin(const struct graph *graph, uint32_t index, uint16_t registers);

/* red_zone.c: whether memory below the stack pointer is free at each instruction.
 * requires: build_graph */
bool leaves_red_zone_free(const struct graph *graph);

enum placement {
    PLACEMENT_TREE,  /* on the chords of a maximum spanning tree */
    PLACEMENT_BLOCK, /* in every block, and on the edges that blocks do not determine */
};

/* The nodes of the flow equations. A block is two nodes, in and out. The outside and each hub are
 * one node. Node 0 is the outside. */
uint32_t in_node(const struct graph *graph, uint32_t end);
uint32_t out_node(const struct graph *graph, uint32_t end);
uint32_t node_count(const struct graph *graph);

/* Returns the cost of a counter there, for each call of the function. 1 is the cost of one
 * instruction.
 * requires: find_frequencies, find_liveness */
double block_cost(const struct graph *graph, const struct basic_block *block);
double edge_cost(const struct graph *graph, const struct edge *edge);

/* requires: find_frequencies, find_liveness   makes: chord of blocks and edges */
void place_chords(struct graph *graph, enum placement placement);

/* Whether arcs that cannot hold code close a cycle. */
bool closes_cycle(const struct graph *graph);

#endif
