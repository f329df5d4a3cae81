// Is linked to a shared object, and has a function of the same name: see objects.sh.
int run(void);
__attribute__((noipa)) static int visit(int n) {
    return n;
}
int main(void) {
    return visit(0) + run();
}
