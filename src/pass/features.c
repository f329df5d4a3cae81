/* features.c: the table of features; see feature.h. */
#include "pass/feature.h"

#include "pass/plan.h"
#include "util/diag.h"

const struct feature *const features[FEATURES] = {&null_feature,   &count_feature, &event_feature,
                                                  &moment_feature, &calls_feature, &watch_feature,
                                                  &trace_feature};

void choose_features(struct pass_state *state) {
    state->on_count = 0;
    for (size_t i = 0; i < FEATURES; i++)
        if (features[i]->is_on(state->options))
            state->on[state->on_count++] = features[i];
}

unsigned needs_of_features(const struct pass_state *state) {
    unsigned needs = 0;
    for (size_t i = 0; i < state->on_count; i++)
        needs |= state->on[i]->needs;
    return needs;
}

static size_t number_of(const struct feature *feature) {
    size_t number = 0;
    while (number < FEATURES && features[number] != feature)
        number++;
    CHECK(number < FEATURES);
    return number;
}

void keep_unit_data(struct pass_state *state, const struct feature *feature, void *data) {
    state->data[number_of(feature)] = data;
}

void *unit_data(const struct pass_state *state, const struct feature *feature) {
    return state->data[number_of(feature)];
}

void keep_function_data(struct planner *p, const struct feature *feature, void *data) {
    p->data[number_of(feature)] = data;
}

void *function_data(const struct planner *p, const struct feature *feature) {
    return p->data[number_of(feature)];
}
