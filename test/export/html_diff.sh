#!/bin/bash
# html_diff.sh: the data of the page that compares two runs is that of 'quipu diff --format=json',
# with all rows; hostile names stay text; in a browser (chromium, if it is there) it shows them.
. "$(dirname "$0")/lib.bash"
. "$root/test/browser.sh.inc"
needs python3

cat >program.cc <<'END'
#include <cstdlib>
long grows(long n) __asm__("grows_@override@");
__attribute__((noinline)) long grows(long n) {
    volatile long sum = 0;
    for (long i = 0; i < n * n; i++)
        sum = sum + i;
    return sum;
}
template <class T> __attribute__((noinline)) T same(T n) { return n * 3; }
#ifdef AFTER
__attribute__((noinline)) int added(int n) { return n ? n * 3 : 4; }
#else
__attribute__((noinline)) int gone(int n) { return n ? n * 5 : 4; }
#endif
int main(int argc, char **argv) {
    long n = grows(atoi(argv[1])) + same<long>(argc);
#ifdef AFTER
    return n + added(argc) == 0;
#else
    return n + gone(argc) == 0;
#endif
}
END
override=$'\xe2\x80\xae' # what follows is shown from right to left
sed -i "s/@override@/$override/" program.cc
"$quipu" c++ --quipu=count,calls -g -O1 -Wno-bidi-chars program.cc -o before
"$quipu" c++ --quipu=count,calls -g -O1 -Wno-bidi-chars -DAFTER program.cc -o after
mkdir 'x<script>document.title="taken over"'
QUIPU_DATA='x<script>document.title="taken over"' ./before 10
QUIPU_DATA=later ./after 100
sides=('x<script>document.title="taken over"' later)
for view in function inclusive callsite; do
    "$quipu" diff --by=$view --all --format=json "${sides[@]}" >whole.json
    "$quipu" diff --by=$view --to=html -o $view.html "${sides[@]}"
    page_data $view.html | python3 -c '
import json, sys
page, whole = json.load(sys.stdin), json.loads(open("whole.json").read().replace("\\u202e", "?"))
assert (page.pop("before"), page.pop("after")) == tuple(sys.argv[1:]) and page.pop("version")
assert page == whole and len(whole.get("functions") or whole["callsites"]) > 3' "${sides[@]}" ||
        fail "$view: the page differs from JSON"
    [ "$(grep -o '<script' $view.html | wc -l)" = 2 ] || fail "$view: the page has scripts of others"
done
"$quipu" diff --format=html "${sides[@]}" | cmp - function.html || fail "--format=html is something else"
! "$quipu" diff --to=htm "${sides[@]}" 2>messages || fail "--to=htm is accepted"
grep -q html messages || fail "$(cat messages)"

has chromium || exit 0
shows function.html summary 'Grew (2)' 'Shrank (1)' 'grows_?'
shows function.html changed 'grows_?' new removed 'added(int)' 'gone(int)' program.cc:3
! grep -q 'same<long>' view.txt || fail "what did not change is shown as changed"
shows function.html all 'long same<long>(long)' 'grows_?'
shows callsite.html changed 'grows_? from main'
! grep -q '^taken over' view.txt || fail "the page runs a script of a path"
