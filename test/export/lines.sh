#!/bin/bash
# lines.sh: each instruction has the line that addr2line tells, or none, however the program is
# linked; no code without debug information has the line of other code.
. "$(dirname "$0")/../needs.sh.inc"
. "$(dirname "$0")/lib.bash"
. "$here/lines/lib.bash"
build_line_of
for family in gcc clang; do
    try $family-4 $family '-O2 -gdwarf-4' ''
    try $family-5 $family '-O2 -gdwarf-5' ''
done
try gc gcc '-O2 -ffunction-sections' '-Wl,--gc-sections'
try gold-icf gcc '-O2 -ffunction-sections' '-fuse-ld=gold -Wl,--gc-sections -Wl,--icf=all'
try lld-icf clang '-O2 -ffunction-sections' '-fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all'
try split gcc '-O2 -gsplit-dwarf' ''
try lto gcc '-O2 -flto' '-O2 -flto'
try shared gcc '-O2 -fPIC' '-shared'
compare_lines
apart gcc-4
apart gcc-5
damaged gcc-4

# What was compiled by quipu, and without -g, has no lines of other files.
quipu_parts -O2
QUIPU_DATA=data ./counted || fail "the program failed"
"$quipu" report --by=instruction --format=json data >report.json
python3 - report.json <<'END' || fail "lines of functions are wrong, see above"
import json, sys
wanted = {'plain': '', 'stop': '', 'main': 'main.c', 'of_objects': 'objects.cc'}
seen = {name: set() for name in wanted}
for row in json.load(open(sys.argv[1]))['instructions']:
    if row['function'] in wanted:
        seen[row['function']].add((row.get('file') or '').rsplit('/', 1)[-1])
for name, file in wanted.items():
    others = seen[name] - {file, 'lines.h' if file else ''}
    if others or file not in seen[name]:
        sys.exit(f'{name}: lines of {sorted(seen[name])}, not of {file!r}')
END
