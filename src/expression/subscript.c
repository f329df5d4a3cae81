/* subscript.c: indices in expressions: ARRAY[I] and ARRAY[FIRST..LAST]. Fortran arrays may also
 * have Fortran's form: ARRAY(I,J), ARRAY(FIRST:LAST,J), ARRAY(:,J).
 *
 * Each pair of brackets has the index of one dimension. The last one is that of the dimension whose
 * elements lie next to each other. Fortran's form has all indices in one pair of parentheses, and
 * there that dimension is the first.
 *
 * Not perfect: the elements of a slice must lie next to each other. */
#include "expression/parser.h"

enum {
    RANK_MAX = 15,    /* Fortran's */
    ALIGNMENT_MAX = 8 /* bytes, of the padding at the end of most structures */
};

/* For a slice of an array of unknown size. */
static const uint64_t ELEMENTS_MAX = (uint64_t)1 << 40;

/* The index or slice of one dimension. */
struct subscript {
    const char *at;
    const char *end;           /* of its text */
    struct node *first, *last; /* first is NULL: the whole dimension; last is NULL: one index */
};

static bool is_slice(const struct subscript *subscript) {
    return !subscript->first || subscript->last;
}

/* Whether NODE is a literal integer. Sets VALUE to it. */
static bool is_constant(const struct node *node, int64_t *value) {
    bool negates = node->kind == NODE_UNARY && node->operation == OPERATION_NEGATE;
    const struct node *number = negates ? node->a : node;
    if (number->kind != NODE_NUMBER || number->type.kind != TYPE_INTEGER)
        return false;
    *value = (int64_t)(negates ? -number->number : number->number);
    return true;
}

/* Returns the number of elements of ARRAY, or 0 if it is unknown. */
static uint64_t element_count(struct parser *parser, const struct node *array) {
    if (array->type.kind != TYPE_ARRAY)
        return 0;
    uint64_t size = target_of(parser->tree.binary, &array->type).size;
    return size ? array->type.size / size : 0;
}

/* Sets the count of elements of SUBSCRIPT, a slice of ARRAY. Returns false, with an error, if it is
 * not valid. */
static bool take_count(struct parser *parser, const struct node *array,
                       const struct subscript *subscript) {
    int64_t lowest = first_index(&array->type), first = 0, last = 0;
    uint64_t elements = element_count(parser, array);
    const char *wrong = NULL;
    parser->count = elements;
    if (!subscript->first)
        wrong = elements ? NULL : "how many elements that has is not known";
    else if (!is_constant(subscript->first, &first) || !is_constant(subscript->last, &last))
        wrong = "the first and last index of a slice must be numbers";
    else if (last < first)
        wrong = "the last index is less than the first";
    else if (first < lowest)
        wrong = arena_print(parser->tree.arena, "the first index is %lld", (long long)lowest);
    else if (elements && (uint64_t)(last - lowest) >= elements)
        wrong = arena_print(parser->tree.arena, "there are %llu elements; the last index is %lld",
                            (unsigned long long)elements, (long long)elements - 1 + lowest);
    else
        parser->count = (uint64_t)(last - first) + 1;
    if (wrong)
        refuse(parser, subscript->at, wrong);
    return !wrong;
}

/* Returns INDEX minus the index of the first element of ARRAY. INDEX may be NULL: the first
 * element. */
static struct node *count_from_first(struct parser *parser, const struct node *array,
                                     struct node *index) {
    int64_t first = first_index(&array->type), value = first;
    if (index && !first)
        return index;
    if (!index || is_constant(index, &value))
        return make_number(&parser->tree, (uint64_t)value - (uint64_t)first, 8, true);
    return make_binary(&parser->tree, OPERATION_SUBTRACT, index,
                       make_number(&parser->tree, (uint64_t)first, 8, true));
}

/* ELEMENT, with the index FIRST, is the first of a slice of ARRAY. */
static void set_slice(struct parser *parser, const struct node *array, struct node *element,
                      int64_t first) {
    parser->slice = element;
    parser->first = first;
    parser->base = array->begin;
}

/* Returns the element of ARRAY that SUBSCRIPT selects, or the first element of its slice. */
static struct node *take_element(struct parser *parser, struct node *array,
                                 const struct subscript *subscript) {
    size_t begin = array->begin;
    if (is_slice(subscript) && !take_count(parser, array, subscript))
        return NULL;
    struct node *index = count_from_first(parser, array, subscript->first);
    if (!index)
        return NULL;
    struct node *place_of_it = make_binary(&parser->tree, OPERATION_ADD, array, index);
    if (!spans(parser, begin, place_of_it))
        return NULL;
    struct node *element = make_target(&parser->tree, place_of_it);
    if (is_slice(subscript))
        set_slice(parser, array, element, first_index(&array->type) + (int64_t)index->number);
    return spans(parser, begin, element);
}

/* Does the same for an array with a descriptor. There are COUNT of SUBSCRIPTS. */
static struct node *take_described(struct parser *parser, struct node *array,
                                   const struct subscript *subscripts, unsigned count) {
    struct node *indices[RANK_MAX];
    int64_t first = 0, last = 0;
    bool slices = is_slice(&subscripts[0]);
    for (unsigned i = 0; i < count; i++) {
        indices[i] = subscripts[i].first;
        if (i && is_slice(&subscripts[i]))
            return refuse(parser, subscripts[i].at,
                          "of an array with a descriptor the first index alone can have a slice");
        if (indices[i] && indices[i]->type.kind != TYPE_INTEGER)
            return refuse(parser, subscripts[i].at, "an index must be an integer");
    }
    if (slices && (!subscripts[0].first || !is_constant(subscripts[0].first, &first) ||
                   !is_constant(subscripts[0].last, &last) || last < first))
        return refuse(
            parser, subscripts[0].at,
            "how many elements there are tells the array's descriptor: write two numbers, "
            "FIRST:LAST");
    if (slices && !is_contiguous(&parser->tree, &array->type))
        return refuse(parser, subscripts[0].at,
                      "the elements of a pointer, or of a structure, need not lie next to each "
                      "other: name one");
    if (slices && (uint64_t)last - (uint64_t)first >= ELEMENTS_MAX)
        return refuse(parser, subscripts[0].at, "no array has so many elements");
    parser->is_described = true;
    struct node *element = make_described_element(&parser->tree, array, indices);
    if (!element || !slices)
        return element;
    parser->count = (uint64_t)(last - first) + 1;
    parser->others =
        arena_copy(parser->tree.arena, subscripts[0].end, (size_t)(parser->at - subscripts[0].end));
    set_slice(parser, array, element, first);
    return element;
}

/* Reads the index or slice of one dimension. ALL_IN_ONE: ARRAY is a Fortran array, so ':' may
 * separate the first and the last index. */
static bool parse_subscript(struct parser *parser, bool all_in_one, struct subscript *subscript) {
    bool may_slice = parser->may_slice && !parser->slice;
    skip_blanks(parser);
    *subscript = (struct subscript){.at = parser->at};
    if (!(all_in_one && may_slice && take(parser, ":"))) {
        subscript->first = parse_condition(parser);
        if (!subscript->first)
            return false;
        if (may_slice && (take(parser, "..") || (all_in_one && take(parser, ":")))) {
            skip_blanks(parser);
            subscript->at = parser->at;
            subscript->last = parse_condition(parser);
            if (!subscript->last)
                return false;
        }
    }
    skip_blanks(parser);
    subscript->end = parser->at;
    return true;
}

/* Whether ARRAY may have more elements than its declaration has. Before C had flexible array
 * members, programs declared an array of one element at the end of a structure instead. */
static bool may_be_longer(const struct node *array, uint64_t elements) {
    const struct node *record = array->kind == NODE_FIELD ? array->a : NULL;
    return elements == 1 && record &&
           array->number + array->type.size + ALIGNMENT_MAX > record->type.size;
}

/* Whether ARRAY has the element at SUBSCRIPT. Checks constant indices only, and no slices. */
static bool is_within(struct parser *parser, const struct node *array,
                      const struct subscript *subscript) {
    int64_t lowest = first_index(&array->type), index;
    uint64_t elements = element_count(parser, array);
    if (is_slice(subscript) || !elements || may_be_longer(array, elements) ||
        !is_constant(subscript->first, &index) ||
        (index >= lowest && (uint64_t)index - (uint64_t)lowest < elements))
        return true;
    refuse(parser, subscript->at,
           arena_print(parser->tree.arena, "the indices are from %lld to %lld", (long long)lowest,
                       (long long)(lowest + (int64_t)elements - 1)));
    return false;
}

/* Takes the dimensions, the last one first, up to a slice. All dimensions before a slice must be
 * whole. */
static struct node *take_all(struct parser *parser, struct node *array,
                             const struct subscript *subscripts, unsigned count) {
    for (unsigned i = count; array && i-- > 0;) {
        if (!is_within(parser, array, &subscripts[i]))
            return NULL;
        array = take_element(parser, array, &subscripts[i]);
        if (!array || !is_slice(&subscripts[i]))
            continue;
        size_t length = (size_t)(parser->at - subscripts[i].end);
        parser->others = arena_copy(parser->tree.arena, subscripts[i].end, length);
        for (unsigned k = 0; k < i; k++)
            if (subscripts[k].first)
                return refuse(parser, subscripts[k].at,
                              "a slice's elements must lie next to each other: in front of it "
                              "there can be ':' only");
        break;
    }
    return array;
}

struct node *parse_subscripts(struct parser *parser, struct node *array, char close) {
    struct subscript subscripts[RANK_MAX];
    unsigned rank = dimensions_of(&array->type), count = 0;
    size_t begin = place(parser) - 1;
    const char closing[] = {close, '\0'};
    do {
        if (count == RANK_MAX)
            return refuse(parser, parser->at, "no array has so many dimensions");
        if (!parse_subscript(parser, rank != 0, &subscripts[count++]))
            return NULL;
    } while (rank && take(parser, ","));
    if (!take(parser, closing))
        return refuse(parser, parser->at,
                      arena_print(parser->tree.arena, "'%s' is missing here", closing));
    if (!parser->slice)
        parser->base_end = begin;
    if (count == 1 && close == ']' && !array->type.is_described)
        return is_within(parser, array, &subscripts[0])
                   ? take_element(parser, array, &subscripts[0])
                   : NULL;
    if (count != rank)
        return refuse(parser, parser->tree.text + begin,
                      arena_print(parser->tree.arena, "the array has %u dimension%s", rank,
                                  rank == 1 ? "" : "s"));
    return array->type.is_described ? take_described(parser, array, subscripts, count)
                                    : take_all(parser, array, subscripts, count);
}
