// comdat.h: what both units of comdat.cc have.
template <typename T> struct Shape {
    T sum = 0;
    int parts = 0;
    virtual ~Shape() {
        sum = 0;
    }
    virtual void add(T value) {
        if (value > 2)
            sum += value;
        parts++;
    }
    T total() {
        T all = sum;
        for (int i = 0; i < parts; i++)
            all += 1;
        return all;
    }
};

inline int counter() {
    static int calls = 10;
    return ++calls;
}

__attribute__((noinline)) inline int twice(int n) {
    return n % 2 ? n * 2 : n + counter();
}

int other(int n);
