#!/bin/bash
# html_keys.sh: what the mouse does in the page, keys do as well, and a screen reader is told: tabs, the
# tree of calls, the instructions of a line, the flame graph.
. "$(dirname "$0")/lib.bash"
. "$root/test/browser.sh.inc"
needs python3 chromium

cat >keys.c <<'END'
__attribute__((noinline)) long leaf(long n) { volatile long sum = 0; for (long i = 0; i < n; i++) sum += i; return sum; }
__attribute__((noinline)) long small(long n) { volatile long sum = 0; for (long i = 0; i < n; i++) sum += i; return sum; }
__attribute__((noinline)) long left(long n) { return leaf(n) + 1; }
__attribute__((noinline)) long right(long n) { return small(n) + 1; }
int main(void) { return left(200) + right(100) == 0; }
END
"$quipu" cc --quipu=count,calls -g -O1 keys.c -o keys
QUIPU_DATA=data ./keys
"$quipu" export --to=html -o page.html data

# told VIEW TEXT...: the script of standard input tells exactly these lines, behind "told:".
told() {
    local view=$1
    shift
    driven page.html "$view" | sed -n 's/^told: //p; /^error: /p' >got.txt
    printf '%s\n' "$@" | diff - got.txt || fail "view '$view': other lines are told"
}

told summary "0 -1 -1 -1 -1" "Functions -1 0 -1 -1 -1" "Summary" "Flame graph" "Summary" "Flame graph" "#flame Flame graph 4" <<'END'
const tabs = () => [...document.querySelectorAll("[role=tab]")], stops = () => tabs().map((tab) => tab.tabIndex).join(" ");
const focus = () => document.activeElement.textContent;
tell("told: " + stops());
tabs()[0].focus();
press("ArrowRight"); tell("told: " + focus() + " " + stops());
press("ArrowLeft"); tell("told: " + focus());
press("ArrowLeft"); tell("told: " + focus());
press("Home"); tell("told: " + focus());
press("End"); tell("told: " + focus());
press(" "); await settled();
tell("told: " + location.hash + " " + focus() + " " + tabs().findIndex((tab) => tab.tabIndex === 0));
END

told calls "1 all" "true 2" "main 3" "left 4" "right 4 false" "true" "small 5" "right" "false" "left" "all" "right" 1 "hidden -1" "#source" <<'END'
const item = () => document.activeElement, name = () => item().getAttribute("aria-label").split(",")[0];
const get = (key) => item().getAttribute("aria-" + key);
const tree = document.querySelector("[role=tree]");
tree.querySelector("[tabindex='0']").focus();
tell("told: " + get("level") + " " + name());
press("ArrowRight"); tell("told: " + get("expanded") + " " + get("level"));
press("ArrowDown"); tell("told: " + name() + " " + get("level"));
press("ArrowRight"); tell("told: " + name() + " " + get("level"));
while (name() !== "right") press("ArrowDown");
tell("told: " + name() + " " + get("level") + " " + get("expanded"));
press("ArrowRight"); tell("told: " + get("expanded"));
press("ArrowRight"); tell("told: " + name() + " " + get("level"));
press("ArrowLeft"); tell("told: " + name());
press("ArrowLeft"); tell("told: " + get("expanded"));
while (name() !== "left") press("ArrowUp");
tell("told: " + name());
press("Home"); tell("told: " + name());
press("End"); tell("told: " + name());
tell("told: " + tree.querySelectorAll("[role=treeitem][tabindex='0']").length);
tell("told: " + ([...tree.querySelectorAll("button")].every((b) => b.getAttribute("aria-hidden") === "true" && b.tabIndex === -1) ? "hidden -1" : "no"));
press("Enter"); await settled();
tell("told: " + location.hash.split("/")[0]);
END

file=$(page_data page.html | python3 -c '
import json, sys
print([i for i, f in enumerate(json.load(sys.stdin)["files"]) if f[0].endswith("keys.c")][0])')
told "source/$file" "Instructions of line 3 false" "true true" "false false" <<'END'
const opener = document.querySelector("#L3 button"), assembly = () => document.querySelectorAll("tr.assembly").length > 0;
tell("told: " + opener.getAttribute("aria-label") + " " + opener.getAttribute("aria-expanded"));
opener.click(); tell("told: " + opener.getAttribute("aria-expanded") + " " + assembly());
opener.click(); tell("told: " + opener.getAttribute("aria-expanded") + " " + assembly());
END

told flame "0 all" main left right left leaf left "left left true" "left true" <<'END'
const canvas = document.querySelector("canvas"), status = () => document.querySelector("[role=status]").textContent.split(":")[0];
const where = () => document.querySelector("#view .note").textContent.split(":")[0];
canvas.focus();
tell("told: " + canvas.tabIndex + " " + status());
for (let i = 0; i < 4 && status() !== "main"; i++) press("ArrowDown");
tell("told: " + status());
for (const key of ["ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"]) { press(key); tell("told: " + status()); }
press("Enter"); await settled();
tell("told: " + where() + " " + status() + " " + (document.activeElement === document.querySelector("canvas")));
press("Escape"); await settled();
tell("told: " + status() + " " + (where() !== "left"));
END
