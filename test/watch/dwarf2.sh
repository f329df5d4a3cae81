#!/bin/bash
# DWARF 2 describes the position of a member by an operation: members, bases and bit fields have it as in later
# versions.
. "$(dirname "$0")/lib.bash"
cat >two.cc <<'EOT'
struct first {
    int a;
    virtual ~first() {}
};
struct second {
    int b[3];
    unsigned f : 5, g : 9;
};
struct third : first, second {
    int c;
};
third object;
second *p = &object;
int main() {
    for (int i = 1; i < 3; i++) {
        object.c = i;
        p->b[i] = 7;
        p->g = i;
    }
    return object.c - 2;
}
EOT
for version in 2 3 4 5; do
    for compiler in c++ clang++; do
        command -v ${compiler/#c++/g++} >/dev/null || continue
        quipu-$compiler --quipu=moment,watch -O0 -g -gdwarf-$version two.cc -o two || fail "cannot build"
        watches 0 -e object.c -e 'p->b[2]' -e object.g -- ./two
        tells 'object.c 0 -> 1' 'object.g 0 -> 1' 'object.c 1 -> 2' 'p->b[2] 0 -> 7' 'object.g 1 -> 2'
        ends 0 quipu when 'object.c == 2' -- ./two
    done
done
leaves_nothing
