#!/bin/bash
# 'quipu goto' takes C++ names as their programmers write them: with or without parameters, of
# operators, destructors, templates, and in nameless namespaces; all lead to where the symbol does.
. "$(dirname "$0")/lib.bash"
cat >program.cc <<'EOF'
#include <cstdio>
namespace {
struct hidden {
    __attribute__((noipa)) int twice(int n) { return n + sum++ + n; }
    int sum = 0;
};
}
namespace ns {
template <typename T, typename U> struct pair {
    T first;
    U second;
    __attribute__((noipa)) explicit pair(T a) : first(a), second() {}
    __attribute__((noipa)) ~pair() { puts("gone"); }
    __attribute__((noipa)) long add(unsigned int a, const char *b) { return first += a + *b; }
    __attribute__((noipa)) long add(int a) { return first += a; }
    __attribute__((noipa)) pair &operator++() { first++; return *this; }
    __attribute__((noipa)) pair &operator+=(int a) { first += a; return *this; }
    __attribute__((noipa)) long operator()(int a) { return first - a; }
};
}
int main(int argc, char **) {
    hidden h;
    ns::pair<unsigned long, char> pair(7);
    for (int i = 0; i < 3; i++) {
        pair.add(i + 1u, "x");
        pair.add(h.twice(argc));
        ++pair += i;
        pair(3);
    }
    printf("%lu\n", pair.first);
}
EOF
quipu-c++ --quipu=moment -O1 -g program.cc -o program || fail "cannot build"

leads _ZN12_GLOBAL__N_16hidden5twiceEi '(anonymous namespace)::hidden::twice(int)' \
    '(anonymous namespace)::hidden::twice' '(anonymous  namespace)::hidden::twice( int )'
leads _ZN2ns4pairImcE3addEjPKc 'ns::pair<unsigned long, char>::add(unsigned int, char const*)' \
    'ns::pair<unsigned long,char>::add(unsigned int,char const *)'
leads _ZN2ns4pairImcE3addEi 'ns::pair<unsigned long, char>::add(int)'
leads _ZN2ns4pairImcEppEv 'ns::pair<unsigned long, char>::operator++()' \
    'ns::pair<unsigned long, char>::operator++'
leads _ZN2ns4pairImcEpLEi 'ns::pair<unsigned long, char>::operator+=(int)' \
    'ns::pair<unsigned long, char>::operator+='
leads _ZN2ns4pairImcEclEi 'ns::pair<unsigned long, char>::operator()(int)' \
    'ns::pair<unsigned long, char>::operator()'
leads _ZN2ns4pairImcED1Ev 'ns::pair<unsigned long, char>::~pair()'
leads main main

grep -q '#0 .* main .*program.cc' output || fail "no backtrace: $(cat output)"
leads _ZN2ns4pairImcE3addEjPKc 'ns::pair<unsigned long, char>::add' # of all of that name the first
grep -qF '  ns::pair<...>::add(...)  program.cc:14' output || fail "$(cat output)"

for name in 'ns::pair<unsignedlong, char>::add(int)' 'ns::pair<unsigned long, char>::add(long)' \
    pair add 'ns::pair' 'main()' 'ns::pair<unsigned long, char>::operator+' mai 'ma in'; do
    refuses "no function '$name'" -- quipu goto --print "$name@1" -- ./program
done
