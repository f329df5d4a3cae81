#!/bin/bash
# calls_left_in_library.sh: a library that is not instrumented calls functions back, and they are left
# by longjmp or by an exception that the library catches itself. What the library's caller then does
# is the caller's own: for each function, the tree has exactly as many instructions as it executed.
# timeout: 300
. "$(dirname "$0")/../bad/lib.bash"
needs python3
cat >library.cc <<'EOT'
#include <csetjmp>
static jmp_buf environment;
extern "C" [[noreturn]] void jump_out(void) { longjmp(environment, 1); }
extern "C" [[noreturn]] void throw_out(void) { throw 1; }
extern "C" int call_back(void (*function)(void)) {
    if (setjmp(environment))
        return 1;
    try {
        function();
    } catch (int) {
        return 2;
    }
    return 0;
}
EOT
cat >plugin.cc <<'EOT'
extern "C" void jump_out(void);
extern "C" int call_back(void (*function)(void));
static void inner() { jump_out(); }
static void outer() { inner(); }
extern "C" void plugin_leaves(void) { outer(); }
extern "C" int plugin_calls(void) { return call_back(outer) + 1; }
EOT
cat >program.cc <<'EOT'
extern "C" void jump_out(void);
extern "C" void throw_out(void);
extern "C" int call_back(void (*function)(void));
extern "C" void plugin_leaves(void);
extern "C" int plugin_calls(void);
static void leaves_by_jump() { jump_out(); }
static void leaves_by_exception() { throw_out(); }
static void calls_and_leaves() { leaves_by_jump(); }
static void stays() {}
static void calls_library() { call_back(calls_and_leaves); }
__attribute__((noinline)) static int tail() { return call_back(calls_and_leaves); }
__attribute__((noinline)) static int inside() { return call_back(leaves_by_exception) + 1; }
__attribute__((noinline)) static long loop(long sum, long n) {
    for (long i = 0; i < n; i++) {
        sum += sum >> 3 ^ i;
        __asm__ volatile("");
    }
    return sum;
}
static void (*const functions[])(void) = {leaves_by_jump, leaves_by_exception, calls_and_leaves,
                                          stays,          calls_library,       plugin_leaves};
__attribute__((noinline)) long work(int (*function)(), long n) {
    long sum = function();
    for (void (*const f)(void) : functions) {
        sum += call_back(f);
        for (long i = 0; i < n; i++) {
            sum += sum >> 3 ^ i;
            __asm__ volatile("");
        }
    }
    sum += tail();
    for (long i = 0; i < n; i++) {
        sum += sum >> 3 ^ i;
        __asm__ volatile("");
    }
    sum += inside();
    return loop(sum, 3) + (n > 0 ? work(function, n - 100) : 0);
}
int main() {
    return work(tail, 500) + work(inside, 700) + work(plugin_calls, 300) == 0;
}
EOT
g++ -shared -fPIC -O2 library.cc -o library.so || fail "cannot build the library"
for options in "" -fPIC -O0 "-O3 -fno-inline" -masm=intel --quipu=watch,count,calls \
    --quipu=event,moment,count,calls; do
    # shellcheck disable=SC2086
    quipu c++ --quipu=count,calls -O2 -g $options -shared -fPIC plugin.cc ./library.so -o plugin.so &&
        quipu c++ --quipu=count,calls -O2 -g $options program.cc ./plugin.so ./library.so -o program ||
        fail "$options: cannot build"
    rm -rf data
    QUIPU_DATA=data ends 0 ./program
    quipu export --to=json -o data.json data || fail "$options: no export"
    python3 - <<'END' || fail "$options: the tree has other counts"
import collections, json
data = json.load(open("data.json"))
executed, own = collections.Counter(), collections.Counter()
for module in data["modules"]:
    for function in module["functions"]:
        executed[function["name"]] += function["instructions"]
calls = data["calls"]
for node in calls["tree"]:
    own[calls["functions"][node["function"]]["name"]] += node["exclusive"]
wrong = {name: (count, own[name]) for name, count in executed.items() if count != own[name]}
assert not wrong and len([name for name in own if own[name]]) > 5, wrong
END
done
