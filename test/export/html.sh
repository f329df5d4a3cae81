#!/bin/bash
# html.sh: the data of the page is that of the JSON export; a hostile name, path or source text stays
# text; and in a browser (chromium, if it is there) the page shows these numbers and runs no other
# script.
. "$(dirname "$0")/lib.bash"
needs python3

mkdir 'a<b'
cat >'a<b/hostile.cc' <<'END'
// </script><script>document.title = "taken over"</script> <!-- <img src=x onerror=alert(1)>
#include <pthread.h>
__attribute__((noinline)) long work(long n) {
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum + i; // "&lt;" stays as it is
    return sum;
}
__attribute__((noinline)) int never(int n) { return n ? n * 3 : 4; }
extern "C" long named(long) __asm__("x</script><script>document.title='taken over'</script>");
extern "C" __attribute__((noinline)) long named(long n) { return work(n) + 1; }
static void *run(void *argument) {
    named(100);
    return argument;
}
int main(int argc, char **) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return argc > 5 ? never(argc) : named(3) != 4;
}
END
# gas takes such a symbol in quotes only; gcc writes it as it is.
if ! "$quipu" cc -x c++ --quipu=count,calls -g -O1 'a<b/hostile.cc' -pthread -lstdc++ -o program 2>/dev/null; then
    sed -i 's|"x</script>.*</script>"|"x_named"|' 'a<b/hostile.cc'
    "$quipu" cc -x c++ --quipu=count,calls -g -O1 'a<b/hostile.cc' -pthread -lstdc++ -o program
fi
for _ in 1 2; do
    QUIPU_DATA=data ./program '</script><script>document.title="taken over"</script>' || fail "the program failed"
done
"$quipu" export --to=html -o page.html data
"$quipu" export --to=json -o whole.json data
cat >check.py <<'END'
import json, re
page = open("page.html").read()
assert page.count("<script") == 2 and page.count("</script>") == 2
assert not re.search(r'(src|href)="?(https?:)?//', page), "the page needs the network"
text = re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.S).group(1)
ours, whole = json.loads(text), json.load(open("whole.json"))
names = {m["path"]: i for i, m in enumerate(whole["modules"])}
functions = {(f["demangled"], f["line"]): (f["calls"], f["instructions"], f["never_executed_instructions"], len(f["code"]))
             for m in whole["modules"] for f in m["functions"]}
assert {(f[0], f[2]): (f[4], f[5], f[7], f[6]) for f in ours["functions"]} == functions
assert ours["instructions"] == whole["totals"]["instructions"] and ours["processes"] == 2 and ours["threads"] == 4
lines = {(f["file"], l["line"]): (l["executions"], l["instructions"], [t["count"] for b in l["branches"] for t in b["targets"]])
         for f in whole["files"] for l in f["lines"]}
got = {(ours["files"][int(n)][0], l[0]): (l[1], l[2], l[3:]) for n, s in ours["source"].items() for l in s["lines"]}
assert {k: v for k, v in got.items() if k in lines} == lines
[source] = [s for n, s in ours["source"].items() if ours["files"][int(n)][0].endswith("hostile.cc")]
assert source["text"] == open("a<b/hostile.cc").read().splitlines()
for index, code in ours["assembly"].items():
    f = ours["functions"][int(index)]
    [theirs] = [g for m in whole["modules"] for g in m["functions"] if (g["demangled"], g["line"]) == (f[0], f[2])]
    assert [[c[0], c[1], c[3], c[4]] for c in code] == [[c["address"], c["count"], c["line"], c["text"]] for c in theirs["code"]]
calls = ours["calls"]
assert len(calls["roots"]) == 4
paths = [calls["paths"][i:i + 5] for i in range(0, len(calls["paths"]), 5)]
assert sum(p[4] for p in paths) == whole["calls"]["instructions"] == paths[0][3]
END
python3 check.py || fail "the page differs from the JSON export"

has chromium || exit 0
# shown VIEW: the text of the view, one element a line.
shown() {
    chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --dump-dom \
        --user-data-dir="$work/chromium" "file://$work/page.html#$1" 2>/dev/null |
        sed 's/<script type="application.json"/\n&/; s/<style>/\n&/' |
        python3 -c '
import html, re, sys
page = sys.stdin.read()
page = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
print(html.unescape(re.sub(r"<[^>]*>", "\n", page)))' | grep .
}
shows() {
    grep -qxF -- "$2" view.txt || fail "view '$1' does not show '$2': $(tr '\n' '|' <view.txt)"
}
total=$(python3 -c 'import json; print(format(json.load(open("whole.json"))["totals"]["instructions"], ","))')
shown summary >view.txt
shows summary "$total"
shows summary "program - quipu"
shown functions >view.txt
for cell in 'work(long)' 'never(int)' '5 of 5' hostile.cc:3; do
    shows functions "$cell"
done
shown "source/$(python3 -c '
import json, re
d = json.loads(re.search(r"id=.data.>\n(.*?)</script>", open("page.html").read(), re.S).group(1))
print([i for i, f in enumerate(d["files"]) if f[0].endswith("hostile.cc")][0])')" >view.txt
shows source '        sum = sum + i; // "&lt;" stays as it is'
shows source '// </script><script>document.title = "taken over"</script> <!-- <img src=x onerror=alert(1)>'
shows source 206
shown calls >view.txt
shows calls all
! grep -q '^taken over' view.txt || fail "the page runs a script of the program"
