/* guide.c: words that only grow, or only fall; see guide.h. */
#include "debug/guide.h"

#include "tracee/checkpoint.h"
#include "tracee/tracee.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    REGISTERS = 16,
    STACK_POINTER = 4,
    MEMORY_WORDS = 96
};

/* What is looked at in each sample. */
struct sample {
    uint64_t registers[REGISTERS];
    uint64_t memory[MEMORY_WORDS];
};

static bool take_sample(pid_t process, const uint64_t *addresses, size_t count,
                        struct sample *sample) {
    struct user_regs_struct registers;
    if (!get_general_registers(process, &registers))
        return false;
    for (unsigned i = 0; i < REGISTERS; i++)
        sample->registers[i] = general_register(&registers, i);
    for (size_t i = 0; i < count; i++)
        if (!read_memory(process, addresses[i], &sample->memory[i], sizeof *sample->memory))
            return false;
    return true;
}

static uint64_t part(const struct guide_word *word, uint64_t value) {
    value >>= word->shift;
    return word->bits < 64 ? value & (((uint64_t)1 << word->bits) - 1) : value;
}

/* Whether the word only grows, or only falls, over the samples, with the wanted value between, and
 * evenly: a word of arbitrary values might do the first by chance. */
static bool leads(struct guide_word *word, const struct guide *guide) {
    enum {
        UNEVEN = 20
    };
    const uint64_t *values = word->values;
    size_t samples = guide->samples;
    word->falls = values[samples - 1] < values[0];
    double all = fabs((double)values[samples - 1] - (double)values[0]);
    for (size_t i = 0; i + 1 < samples; i++) {
        double step = fabs((double)values[i + 1] - (double)values[i]);
        double share = (guide->times[i + 1] - guide->times[i]) / guide->times[samples - 1];
        if (values[i] == values[i + 1] || (values[i + 1] < values[i]) != word->falls ||
            step > UNEVEN * share * all || step < share * all / UNEVEN)
            return false;
    }
    uint64_t low = word->falls ? values[samples - 1] : values[0];
    uint64_t high = word->falls ? values[0] : values[samples - 1];
    return word->wanted >= low && word->wanted <= high;
}

/* Returns how far the word is from growing evenly with the time, at most, as a share of all. */
static double deviation_of(const struct guide_word *word, const struct guide *guide) {
    size_t last = guide->samples - 1;
    double all = (double)word->values[last] - (double)word->values[0], most = 0;
    for (size_t i = 0; i <= last; i++) {
        double share = ((double)word->values[i] - (double)word->values[0]) / all;
        double deviation = fabs(share - guide->times[i] / guide->times[last]);
        most = deviation > most ? deviation : most;
    }
    return most;
}

/* Takes the first part of a word that leads, if it is the most even one so far: a sum of many
 * arbitrary numbers leads, too, but not as evenly as a counter. WANTED and VALUES are the whole
 * word's. */
static void add_word(struct guide *guide, struct guide_word word, uint64_t wanted,
                     const uint64_t *values) {
    static const struct { uint8_t shift, bits; } parts[] = {{0, 64}, {0, 32}, {32, 32}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        word.shift = parts[i].shift;
        word.bits = parts[i].bits;
        word.wanted = part(&word, wanted);
        for (size_t j = 0; j < guide->samples; j++)
            word.values[j] = part(&word, values[j]);
        if (!leads(&word, guide))
            continue;
        double deviation = deviation_of(&word, guide);
        if (guide->count == 0 || deviation < guide->deviation) {
            guide->words[0] = word;
            guide->count = 1;
            guide->deviation = deviation;
        }
        return;
    }
}

static void choose_words(struct guide *guide, const struct sample *wanted,
                         const struct sample *samples, const uint64_t *addresses, size_t count) {
    uint64_t values[GUIDE_SAMPLES];
    guide->count = 0;
    for (unsigned i = 0; i < REGISTERS; i++) {
        for (size_t j = 0; j < guide->samples; j++)
            values[j] = samples[j].registers[i];
        if (i != STACK_POINTER)
            add_word(guide, (struct guide_word){.number = (uint8_t)i}, wanted->registers[i],
                     values);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < guide->samples; j++)
            values[j] = samples[j].memory[i];
        add_word(guide, (struct guide_word){.address = addresses[i]}, wanted->memory[i], values);
    }
}

/* Returns the seconds of processor time that PROCESS has used. */
static double processor_seconds(pid_t process) {
    clockid_t clock;
    struct timespec time = {0};
    if (clock_getcpuclockid(process, &clock) == 0)
        clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Goes forwards for SECONDS, with a sample now and then: not where the process has hardly run, as
 * other programs have. */
static void take_samples(struct timeline *timeline, struct guide *guide, double seconds,
                         const uint64_t *addresses, size_t count, struct sample *samples) {
    enum {
        TRIES = 4 * GUIDE_SAMPLES
    };
    uint64_t events = timeline->here.events;
    pid_t process = timeline_process(timeline);
    double begin = processor_seconds(process), part = seconds / (GUIDE_SAMPLES - 1);
    guide->samples = 0;
    for (int i = 0; i < TRIES && guide->samples < GUIDE_SAMPLES; i++) {
        double time = processor_seconds(process) - begin;
        bool ran = guide->samples == 0 || time - guide->times[guide->samples - 1] > part / 4;
        if (ran && !take_sample(process, addresses, count, &samples[guide->samples]))
            break;
        if (ran)
            guide->times[guide->samples++] = time;
        if (guide->samples == GUIDE_SAMPLES)
            break;
        set_alarm(timeline, part);
        struct halt halt = advance(timeline, false);
        if (halt.kind != HALT_TIMER || timeline->here.events != events)
            break;
    }
    set_alarm(timeline, 0);
}

bool make_guide(struct timeline *timeline, struct wanted_state *wanted, double seconds,
                struct guide *guide) {
    static struct sample samples[GUIDE_SAMPLES], aim;
    uint64_t addresses[MEMORY_WORDS];
    struct stand here;
    bool ignored = timeline->ignores_points;
    uint64_t extra = timeline->extra;
    guide->count = 0;
    set_stops(timeline, true, 0);
    size_t count = find_differences(wanted, timeline_process(timeline), addresses, MEMORY_WORDS);
    if (take_sample(wanted->process, addresses, count, &aim) && copy_here(timeline, &here)) {
        take_samples(timeline, guide, seconds, addresses, count, samples);
        if (guide->samples > GUIDE_SAMPLES / 2)
            choose_words(guide, &aim, samples, addresses, count);
        go_to_stand(timeline, &here);
    }
    set_stops(timeline, ignored, extra);
    return guide->count;
}

/* ---- judging ---- */

static uint64_t read_word(pid_t process, const struct user_regs_struct *registers,
                          const struct guide_word *word) {
    uint64_t value = 0;
    if (word->address)
        read_memory(process, word->address, &value, sizeof value);
    else
        value = general_register(registers, word->number);
    return part(word, value);
}

static bool word_is_in_front(pid_t process, const struct user_regs_struct *registers,
                             const struct guide_word *word) {
    uint64_t value = read_word(process, registers, word);
    return word->falls ? value > word->wanted : value < word->wanted;
}

bool is_in_front(const struct timeline *timeline, const struct guide *guide) {
    struct user_regs_struct registers;
    pid_t process = timeline_process(timeline);
    if (!get_general_registers(process, &registers))
        return false;
    for (size_t i = 0; i < guide->count; i++)
        if (!word_is_in_front(process, &registers, &guide->words[i]))
            return false;
    return guide->count;
}

void correct_guide(const struct timeline *timeline, struct guide *guide) {
    struct user_regs_struct registers;
    pid_t process = timeline_process(timeline);
    size_t kept = 0;
    if (!get_general_registers(process, &registers))
        return;
    for (size_t i = 0; i < guide->count; i++)
        if (word_is_in_front(process, &registers, &guide->words[i]))
            guide->words[kept++] = guide->words[i];
    guide->count = kept;
}

/* Returns the time at which the word has VALUE, between two samples, or behind the last. */
static double time_of(const struct guide *guide, const struct guide_word *word, uint64_t value) {
    size_t i = 0;
    while (i + 2 < guide->samples &&
           (word->falls ? value < word->values[i + 1] : value > word->values[i + 1]))
        i++;
    double from = (double)word->values[i], to = (double)word->values[i + 1];
    double share = ((double)value - from) / (to - from);
    return guide->times[i] + share * (guide->times[i + 1] - guide->times[i]);
}

double guide_distance(const struct timeline *timeline, const struct guide *guide) {
    struct user_regs_struct registers;
    const struct guide_word *word = &guide->words[0];
    pid_t process = timeline_process(timeline);
    if (!get_general_registers(process, &registers))
        return 0;
    return time_of(guide, word, word->wanted) -
           time_of(guide, word, read_word(process, &registers, word));
}
