// Part of gc_sections.c: one function is used, two are not.
int unused_first(int n);
int used(int n);
int unused_last(int n);

int unused_first(int n) {
    return n < 2 ? n : unused_first(n - 1) + 1;
}

int used(int n) {
    return n % 3 == 1 ? n * 2 : n;
}

int unused_last(int n) {
    return unused_first(n) ? 1 : 2;
}
