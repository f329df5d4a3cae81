/* table.h: a table, and a function that both files hold a copy of. */
static inline int clamp(int n, int low, int high) {
    if (n < low)
        return low;
    if (n > high)
        return high;
    return n;
}

void table_put(int key, int value);
int table_sum(void);
