/* lines.h: what the parts of the program share. */
#ifndef LINES_H
#define LINES_H

#ifdef __cplusplus
extern "C" {
#endif

extern int held;
int checked(int value);
int outer(int value);
int plain(int value);
int twice_of_one(int value);
int twice_of_two(int value);
int of_objects(int value);
int of_others(int value);

static inline int doubled(int value) {
    return value > 10 ? value * 2 : held + value;
}

#ifdef __cplusplus
}

template <typename T> struct stack {
    T items[16];
    unsigned count;
    __attribute__((noinline)) void push(T item) {
        if (count < 16)
            items[count++] = item;
    }
    __attribute__((noinline)) T pop() {
        return count ? items[--count] : T();
    }
    T top() {
        return count ? items[count - 1] : T();
    }
};
#endif

#endif
