// The unit of never_entered.c.
__attribute__((used)) static int never(int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += i * sum;
    return sum;
}
