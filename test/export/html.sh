#!/bin/bash
# html.sh: the data of the page is that of the JSON export; a hostile name, path or source text stays
# text; and in a browser (chromium, if it is there) the page shows these numbers and runs no other
# script.
. "$(dirname "$0")/lib.bash"
. "$root/test/browser.sh.inc"
needs python3

mkdir 'a<b'
cat >'a<b/hostile.cc' <<'END'
// </script><script>document.title = "taken over"</script> <!-- <img src=x onerror=alert(1)>
#include <pthread.h>
__attribute__((noinline)) long work(long n) {
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum = sum + i; // "&lt;" stays as it is
    return sum; // @override@
}
__attribute__((noinline)) int never(int n) { return n ? n * 3 : 4; }
extern "C" long turned(long) __asm__("a@override@b");
extern "C" __attribute__((noinline)) long turned(long n) { return work(n) + 1; }
extern "C" long named(long) __asm__("x</script><script>document.title='taken over'</script>");
extern "C" __attribute__((noinline)) long named(long n) { return turned(n) + 1; }
static void *run(void *argument) {
    named(100);
    return argument;
}
int main(int argc, char **) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return argc > 5 ? never(argc) : named(3) != 5;
}
END
override=$'\xe2\x80\xae' # what follows is shown from right to left
sed -i "s/@override@/$override/" 'a<b/hostile.cc'
# gas takes such a symbol in quotes only; gcc writes it as it is.
if ! "$quipu" cc -x c++ --quipu=count,calls -g -O1 -Wno-bidi-chars 'a<b/hostile.cc' -pthread -lstdc++ -o program 2>/dev/null; then
    sed -i 's|"x</script>.*</script>"|"x_named"|' 'a<b/hostile.cc'
    "$quipu" cc -x c++ --quipu=count,calls -g -O1 -Wno-bidi-chars 'a<b/hostile.cc' -pthread -lstdc++ -o program
fi
for _ in 1 2; do
    QUIPU_DATA=data ./program '</script><script>document.title="taken over"</script>' "$override" || fail "the program failed"
done
"$quipu" export --to=html -o page.html data
"$quipu" export --to=json -o whole.json data
cat >check.py <<'END'
import json, re
page = open("page.html").read()
assert page.count("<script") == 2 and page.count("</script>") == 2
assert not re.search(r'(src|href)="?(https?:)?//', page), "the page needs the network"
text = re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.S).group(1)
# What changes the direction of text is shown as '?'; JSON has it.
exact = open("whole.json").read()
assert "a\\u202eb" in exact
ours, whole = json.loads(text), json.loads(exact.replace("\\u202e", "?"))
assert "a?b" in [f[0] for f in ours["functions"]] and "a?b" in [f[0] for f in ours["calls"]["functions"]]
names = {m["path"]: i for i, m in enumerate(whole["modules"])}
functions = {(f["demangled"], f["line"]): (f["calls"], f["instructions"], f["never_executed_instructions"], len(f["code"]))
             for m in whole["modules"] for f in m["functions"]}
assert {(f[0], f[2]): (f[4], f[5], f[7], f[6]) for f in ours["functions"]} == functions
assert ours["instructions"] == whole["totals"]["instructions"] and ours["processes"] == 2 and ours["threads"] == 4
lines = {(f["file"], l["line"]): (l["executions"], l["instructions"], [t["count"] for b in l["branches"] for t in b["targets"]])
         for f in whole["files"] for l in f["lines"]}
got = {(ours["files"][int(n)][0], l[0]): (l[1], l[2], l[3:]) for n, s in ours["source"].items() for l in s["lines"]}
assert got == lines, (got, lines)
[source] = [s for n, s in ours["source"].items() if ours["files"][int(n)][0].endswith("hostile.cc")]
assert source["text"] == open("a<b/hostile.cc").read().replace("\u202e", "?").splitlines()
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

# In a directory, source and assembly are in files beside the page.
"$quipu" export --to=html -o directory/ data
cat >check_directory.py <<'END'
import json, re, subprocess
whole, page = (json.loads(re.search(r'id="data">\n(.*?)</script>', open(name).read(), re.S).group(1))
               for name in ("page.html", "directory/index.html"))
assert page["source"] == page["assembly"] == {} and len(page["parts"]) > 0
source, assembly = {}, {}
for number in page["parts"]:
    text = open("directory/file-%d.js" % number).read()
    part = json.loads(re.fullmatch(r"page\.add\(%d, (.*)\);\n" % number, text, re.S).group(1))
    assert set(part["source"]) <= {str(number)}
    source.update(part["source"])
    assembly.update(part["assembly"])
assert source == whole["source"] and assembly == whole["assembly"]
del page["parts"], page["source"], page["assembly"]
assert page == {key: whole[key] for key in page}
END
python3 check_directory.py || fail "the files of a directory differ from the page of one file"
! "$quipu" export --to=lcov -o directory/ data 2>messages || fail "lcov writes to a directory"
grep -q "'directory/' is a directory" messages || fail "$(cat messages)"

# Where the threads' trees are large together, they are added up, with a warning.
cat >deep.c <<'END'
#define ROW(name) __attribute__((noinline)) void name(int n, unsigned bits)
#define BODY(other) { __asm__ volatile(""); if (n) { if (bits & 1) other(n - 1, bits / 2); else other##2(n - 1, bits / 2); } }
ROW(a); ROW(a2); ROW(b); ROW(b2);
ROW(a) BODY(b) ROW(a2) BODY(b) ROW(b) BODY(a) ROW(b2) BODY(a)
int main(void) {
    for (unsigned bits = 0; bits < 1u << 14; bits++)
        a(14, bits);
    return 0;
}
END
"$quipu" cc --quipu=count,calls -g -O1 deep.c -o deep
QUIPU_DATA=many ./deep
paths=$("$quipu" info many | sed -n 's/^ *calls *\([0-9]*\) contexts/\1/p')
echo "$paths" >paths
if [ "$paths" -gt 1000 ]; then
    for _ in $(seq $((2000000 / paths))); do
        QUIPU_DATA=many ./deep
    done
    "$quipu" export --to=html -o many.html many 2>messages
    grep -q "the calls of all threads are added up" messages || fail "no warning: $(cat messages)"
    page_data many.html | python3 -c '
import json, sys
calls = json.load(sys.stdin)["calls"]
assert calls["roots"] == [] and len(calls["paths"]) // 5 - 1 == int(open("paths").read()), len(calls["paths"])'  || fail "the page of many paths"
fi

has chromium || exit 0
total=$(python3 -c 'import json; print(format(json.load(open("whole.json"))["totals"]["instructions"], ","))')
shows page.html summary "$total" "program - quipu"
shows page.html functions 'work(long)' 'never(int)' 'a?b' '6 of 6' hostile.cc:3
file=$(page_data page.html | python3 -c '
import json, sys
d = json.load(sys.stdin)
print([i for i, f in enumerate(d["files"]) if f[0].endswith("hostile.cc")][0])')
shows page.html "source/$file" '        sum = sum + i; // "&lt;" stays as it is' 206 \
    '// </script><script>document.title = "taken over"</script> <!-- <img src=x onerror=alert(1)>'
shows directory/index.html "source/$file" '        sum = sum + i; // "&lt;" stays as it is' 206
function=$(page_data page.html | python3 -c '
import json, sys
print([f[0] for f in json.load(sys.stdin)["functions"]].index("work(long)"))')
for place in page.html directory/index.html; do
    shows $place "function/$function" 'work(long)' 206 hostile.cc:6
done
shows page.html calls all
for view in summary functions "source/$file" "function/$function" calls; do
    shown directory/index.html "$view" >view.txt
    ! grep -q "$override" view.txt || fail "view '$view' changes the direction of text"
done
! grep -q '^taken over' view.txt || fail "the page runs a script of the program"
