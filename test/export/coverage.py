"""coverage.py: reads the coverage formats into one shape, and compares them.

    coverage.py KIND FILE KIND FILE    where KIND is lcov, cobertura or gcov-json

Ends with status 1 where the two files tell different lines, branches or functions; what only
one of the formats can tell is not compared."""

import collections
import gzip
import json
import os
import sys
import xml.etree.ElementTree


class Coverage:
    def __init__(self):
        self.lines = collections.defaultdict(int)  # (file, line) -> executions
        self.branches = collections.defaultdict(int)  # (file, line) -> targets
        self.branches_hit = collections.defaultdict(int)
        self.functions = {}  # (file, name) -> calls; None where the format has no calls
        self.functions_have_calls = True


def read_lcov(path):
    coverage, file = Coverage(), None
    for line in open(path):
        key, _, value = line.rstrip("\n").partition(":")
        parts = value.split(",")
        if key == "SF":
            file = value
        elif key == "DA":
            coverage.lines[file, int(parts[0])] += int(parts[1])
        elif key == "FNDA":
            coverage.functions[file, parts[1]] = int(parts[0])
        elif key == "BRDA":
            coverage.branches[file, int(parts[0])] += 1
            coverage.branches_hit[file, int(parts[0])] += parts[3] not in ("-", "0")
    return coverage


def read_cobertura(path):
    coverage = Coverage()
    coverage.functions_have_calls = False
    root = xml.etree.ElementTree.parse(path).getroot()
    sources = [source.text for source in root.iter("source")]
    assert len(sources) == 1, sources
    for unit in root.iter("class"):
        name = unit.get("filename")
        assert not os.path.isabs(name), name
        file = os.path.join(sources[0], name)
        for line in unit.find("lines"):
            place = file, int(line.get("number"))
            assert place not in coverage.lines, place
            coverage.lines[place] = int(line.get("hits"))
            if line.get("branch") == "true":
                hit, found = line.get("condition-coverage").split("(")[1].rstrip(")").split("/")
                coverage.branches[place], coverage.branches_hit[place] = int(found), int(hit)
        for method in unit.find("methods"):
            coverage.functions[file, method.get("name")] = None
    check_totals(root, coverage)
    return coverage


def check_totals(root, coverage):
    for name, number in (
        ("lines-valid", len(coverage.lines)),
        ("lines-covered", sum(count > 0 for count in coverage.lines.values())),
        ("branches-valid", sum(coverage.branches.values())),
        ("branches-covered", sum(coverage.branches_hit.values())),
    ):
        assert int(root.get(name)) == number, (name, root.get(name), number)


def read_gcov_json(path):
    coverage = Coverage()
    root = json.load(gzip.open(path) if path.endswith(".gz") else open(path))
    for unit in root["files"]:
        file = os.path.normpath(os.path.join(root["current_working_directory"], unit["file"]))
        for line in unit["lines"]:
            place = file, line["line_number"]
            coverage.lines[place] += line["count"]
            for branch in line["branches"]:
                coverage.branches[place] += 1
                coverage.branches_hit[place] += branch["count"] > 0
        for function in unit["functions"]:
            coverage.functions[file, function["name"]] = function["execution_count"]
    return coverage


READERS = {"lcov": read_lcov, "cobertura": read_cobertura, "gcov-json": read_gcov_json}


def differences(a, b, what):
    for key in sorted(set(a) | set(b)):
        if a.get(key, 0) != b.get(key, 0):
            yield f"{what} {key}: {a.get(key)} and {b.get(key)}"


def main():
    left = READERS[sys.argv[1]](sys.argv[2])
    right = READERS[sys.argv[3]](sys.argv[4])
    found = list(differences(left.lines, right.lines, "line"))
    found += differences(left.branches, right.branches, "branches of")
    found += differences(left.branches_hit, right.branches_hit, "branches taken of")
    if left.functions_have_calls and right.functions_have_calls:
        found += differences(left.functions, right.functions, "calls of")
    elif set(left.functions) != set(right.functions):
        found.append(f"functions {set(left.functions) ^ set(right.functions)}")
    if not left.lines or not left.branches or not left.functions:
        found.append("there is nothing to compare")
    print("\n".join(found[:20]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
