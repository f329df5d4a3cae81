#!/bin/bash
# speedscope.sh: a profile for each thread of each process, whose frames open and close in pairs and
# are as long as the calls that 'quipu report' and the collapsed export tell; and callgrind's format
# with positions of lines only, as speedscope reads it. If speedscope (npm) and chromium are there,
# they load both.
. "$(dirname "$0")/lib.bash"
needs python3

cat >program.cc <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
namespace tree {
__attribute__((noinline)) int look_up(int n) {
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}
__attribute__((noinline)) int scan(int n) { return look_up(n) + look_up(2 * n); }
}
static void *run(void *argument) {
    for (int i = 0; i < 30; i++)
        tree::scan(i);
    return argument;
}
int main() {
    pthread_t thread;
    int child = fork();
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    tree::look_up(child ? 100 : 200);
    return child ? waitpid(child, 0, 0) < 0 : 0;
}
END
"$quipu" cc -x c++ --quipu=count,calls -g -O1 program.cc -pthread -lstdc++ -o program
QUIPU_DATA=data ./program || fail "the program failed"
"$quipu" export --to=speedscope -o ours.speedscope.json data
"$quipu" export --to=collapsed -o ours.collapsed data
"$quipu" export --to=callgrind --positions=line -o callgrind.out.ours data
cat >check.py <<'END'
import collections, json, re
ours = json.load(open("ours.speedscope.json"))
frames = [f["name"] for f in ours["shared"]["frames"]]
paths, ends = collections.Counter(), []
for profile in ours["profiles"]:
    stack, at = [], profile["startValue"]
    for event in profile["events"]:
        if stack:
            paths[";".join(stack)] += event["at"] - at
        assert event["at"] >= at
        at = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]])
        else:
            assert stack.pop() == frames[event["frame"]]
    assert not stack and at == profile["endValue"] and at > 0
    assert re.fullmatch(r"program, process \d+, thread \d+", profile["name"])
    ends.append(at)
assert len(ends) == 4 and ends[ours["activeProfileIndex"]] == max(ends)
assert len({p["name"] for p in ours["profiles"]}) == 4
theirs = {r.rsplit(" ", 1)[0]: int(r.rsplit(" ", 1)[1]) for r in open("ours.collapsed")}
assert {p: n for p, n in paths.items() if n} == theirs, (paths, theirs)
# A cost line has a line and a number; that behind "calls=" is inclusive.
total, inclusive = 0, False
for row in open("callgrind.out.ours"):
    if re.match(r"\s*#|\s*$|\w+: |\w+:$", row):
        if row.startswith("summary: "):
            summary = int(row.split()[1])
    elif re.match(r"\w+=", row):
        assert not re.match("jump|jcnd|fi|fe", row)
        inclusive = row.startswith("calls=")
    else:
        numbers = [int(n) for n in row.split()]
        assert len(numbers) == 2
        total += 0 if inclusive else numbers[1]
        inclusive = False
assert total == summary > 0
END
python3 check.py || fail "the exports differ"

release=$(npm root -g 2>/dev/null || true)/speedscope/dist/release # npm may not be there
has chromium || exit 0
[ -d "${QUIPU_SPEEDSCOPE:-$release}" ] || {
    echo "skipped: speedscope is not installed"
    exit 0
}
for file in ours.speedscope.json callgrind.out.ours; do
    python3 - $file <<'END'
import base64, sys
text = base64.b64encode(open(sys.argv[1], "rb").read()).decode()
open("load.js", "w").write(f"speedscope.loadFileFromBase64({sys.argv[1]!r}, {text!r})")
END
    chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=8000 --dump-dom \
        --user-data-dir="$work/chromium" --allow-file-access-from-files \
        "file://${QUIPU_SPEEDSCOPE:-$release}/index.html#localProfilePath=$work/load.js" \
        >page.html 2>/dev/null
    grep -q "program, process\|callgrind.out.ours -- Ir" page.html || fail "speedscope does not load $file"
done
