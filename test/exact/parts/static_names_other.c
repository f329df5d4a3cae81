// The other unit of static_names.c.
int other(int n);

__attribute__((noinline)) static int helper(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}

__attribute__((noinline)) static int index_of(int n) {
    return n > 3 ? 1 : 0;
}

int other(int n) {
    return helper(n) + index_of(n);
}
