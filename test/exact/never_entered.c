// A unit whose only function is one that nothing enters: its object has counters, no code of it asks
// for the thread's cells, and yet it links with those whose code does.
// with: parts/nothing_enters.c
// variants: -O1; -O0; -O2 -fPIE; -O1 -fno-pie -no-pie; -O1 -static
int main(int argc, char **argv) {
    (void)argv;
    return argc - 1;
}
