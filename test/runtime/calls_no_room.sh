#!/bin/bash
# --quipu=calls: where the tree cannot grow any more, calls that have no room are in no node: those that
# have a node keep their own numbers, and no instruction is lost.
. "$(dirname "$0")/../bad/lib.bash"
needs python3
cat >program.c <<'EOT'
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
volatile int sum;
#define F(n) \
    __attribute__((noinline)) void leaf##n(int i) { sum += i + n; } \
    __attribute__((noinline)) void work##n(int i) { leaf##n(i); leaf##n(i + 1); sum++; }
#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define C(n) work##n(i);
#define CT(n) C(n##0) C(n##1) C(n##2) C(n##3) C(n##4) C(n##5) C(n##6) C(n##7) C(n##8) C(n##9)
#define H(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
H(T, 1) H(T, 2) H(T, 3)
__attribute__((noinline)) void serve(int i) { H(CT, 1) H(CT, 2) H(CT, 3) sum++; }
int main(void) {
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
    for (int i = 0; i < 10; ++i)
        serve(i);
    return 0;
}
EOT
quipu cc --quipu=count,calls -O1 -g program.c -o program || fail "cannot build"
QUIPU_DATA=data ./program 2>messages || fail "the program fails: $(cat messages)"
grep -q "cannot extend" messages || fail "the tree has room for all: $(cat messages)"
quipu export --to=json -o data.json data 2>messages || fail "$(cat messages)"
python3 - <<'EOT' || fail "the tree has other numbers"
import collections, json
data = json.load(open("data.json"))
flat = {f["name"]: f["calls"] for m in data["modules"] for f in m["functions"]}
calls, tree = data["calls"], collections.Counter()
for node in calls["tree"]:
    tree[calls["functions"][node["function"]]["name"]] += node["calls"]
assert tree["main"] == 1 and tree["serve"] == 10, tree
assert 2 < len(tree) < len(flat), (len(tree), len(flat))
assert all(count <= flat[name] for name, count in tree.items()), tree
assert calls["instructions"] == data["totals"]["instructions"]
EOT
