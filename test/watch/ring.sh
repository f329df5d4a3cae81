#!/bin/bash
# The ring: it wraps around, fills up, has writers that are killed in the middle of a hit, and keeps
# up with half a million hits a second, where the machine is not busy with others.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_standin

# Four threads, many times the ring's size; all hits come, each thread's in order.
watches 0 --format=json -e counter -- ./program count 100000 4
[[ $(wc -l <hits) -eq 400000 ]] || fail "$(wc -l <hits) hits, not 400000"
python3 - <<'EOT' || fail "hits out of order"
import json
for number, line in enumerate(open('hits'), 1):
    hit = json.loads(line)
    assert hit['hit'] == number and hit['name'] == 'counter', line
EOT

# A child dies in the middle of a hit; what we write behind it is told.
watches 0 -e counter -- ./program child
tells 'counter 0 -> 2'
grep -qF "104 bytes of hits are lost" messages || fail "$(cat messages)"
watches 137 -e config -- ./program dies
grep -qF "104 bytes of hits are lost" messages || fail "$(cat messages)"

begun=$(date +%s%N)
watches 0 -e counter -- ./program count 1000000 1
taken=$((($(date +%s%N) - begun) / 1000000))
[[ $(wc -l <hits) -eq 1000000 ]] || fail "$(wc -l <hits) hits, not a million"
[[ $taken -lt 8000 ]] || fail "a million hits took $taken ms"
rm -f hits
leaves_nothing
