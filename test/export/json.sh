#!/bin/bash
# json.sh: the JSON export holds together: flow in is flow out at every block and hub, counts of
# instructions are those of their blocks, sums are the totals that 'quipu report' tells.
. "$(dirname "$0")/lib.bash"
needs python3

for level in -O0 -O1 -O2 -O3 -Os; do
    build_program counted $level
    run_program counted data$level 50
    "$quipu" export --to=json -o all.json data$level
    "$quipu" report --by=function --format=json data$level >report.json
    python3 - all.json report.json <<'END' || fail "the export does not hold together at $level"
import collections, json, sys
export, report = (json.load(open(name)) for name in sys.argv[1:])
executed = 0
for module in export["modules"]:
    for function in module["functions"]:
        flow_in, flow_out = collections.Counter(), collections.Counter()
        for edge in function["edges"]:
            flow_out[edge["source"]] += edge["count"]
            flow_in[edge["target"]] += edge["count"]
        for number, block in enumerate(function["blocks"]):
            node = f"b{number}"
            assert flow_in[node] == flow_out[node] == block["count"], (function["name"], node)
        for hub in range(function["hubs"]):
            assert flow_in[f"h{hub}"] == flow_out[f"h{hub}"], (function["name"], hub)
        for instruction in function["code"]:
            block = function["blocks"][instruction["block"]]
            assert instruction["count"] == block["count"] or block["padding"], function["name"]
        total = sum(instruction["count"] for instruction in function["code"])
        assert total == function["instructions"], (function["name"], total)
        executed += total
assert executed == export["totals"]["instructions"] == report["totals"]["instructions"] > 0
assert {f["name"] for f in report["functions"]} >= {"main", "table_put", "table_sum"}
lines = [line for file in export["files"] for line in file["lines"]]
for line in lines:
    assert line["executions"] <= line["instructions"], line
    for branch in line["branches"]:
        assert sum(t["count"] for t in branch["targets"]) == branch["executed"], line
assert sum(len(line["branches"]) for line in lines) > 5
END
done
