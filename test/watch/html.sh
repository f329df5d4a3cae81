#!/bin/bash
# watch --to=html writes a page with the hits that --format=json has, each as soon as it happens: a
# page whose end is missing shows the hits until then. In a browser (chromium, if it is there) it
# shows who wrote what. Text of the program stays text.
. "$(dirname "$0")/lib.bash"
. "$top/test/browser.sh.inc"
needs python3
cat >program.c <<'END'
#include <string.h>
long total;
char text[64];
char *(*volatile copy)(char *, const char *) = strcpy;
void add(int n) __asm__("add@override@");
__attribute__((noinline)) void add(int n) { total += n; }
int main(void) {
    for (int i = 1; i <= 5; i++)
        add(i);
    copy(text, "</script><script>document.title='taken over'</script>");
    return 0;
}
END
override=$'\xe2\x80\xae' # what follows is shown from right to left
sed -i "s/@override@/$override/" program.c
quipu cc --quipu=watch -g -O1 -Wno-bidi-chars -no-pie program.c -o program || fail "cannot build"
ends 0 setarch -R quipu watch --format=json --log=hits --backtrace -e total -e text ./program
ends 0 setarch -R quipu watch --to=html --log=page.html --backtrace -e total -e text ./program "$override"
page_data page.html >data
python3 - <<'END' || fail "the page differs from JSON"
import json
about, *hits = [json.loads(line) for line in open("data") if line.strip()]
theirs = [json.loads(line.replace("\\u202e", "?")) for line in open("hits")]
for hit in hits + theirs:
    del hit["process"], hit["thread"]
for ours, other in zip(hits, theirs):
    assert ours == other, (ours, other)
assert len(hits) == len(theirs) > 5 and "</script>" in str(hits), hits[-1]
assert about["command"] == "./program ?" and about["expressions"] == ["total", "text"]
END
[[ $(grep -o '<script' page.html | wc -l) == 2 ]] || fail "the page has scripts of the program"
grep -q '^</html>$' page.html || fail "the page has no end"
ends 1 quipu watch --to=html -e total ./program
said "give it with --log" 1
ends 1 quipu watch --to=htm --log=page -e total ./program
said "text, json or html" 1
has chromium || exit 0
shows page.html summary total 'add?' 5 program.c:6 15 text main
shows page.html hits "3 → 6" 'add?' program.c:6
shows page.html hit/3 "Hit 3: total  3 → 6" Calls "must not be" no
shows page.html time 'add?' main
! grep -q '^taken over' view.txt || fail "the page runs a script of the program"
head -c -60 page.html >cut.html # within the last hit
shows cut.html summary total 'add?' 5 "The end of the data is missing: quipu was ended while it wrote."
