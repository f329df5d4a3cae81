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

# A child's hits are told, too; it has told of no module.
watches 0 --format=json -e counter -- ./program fork
python3 - <<'EOT' || fail "hits of a child"
import json
hits = [json.loads(line) for line in open('hits')]
assert len(hits) == 2000 and len({hit['thread'] for hit in hits}) == 2, len(hits)
assert all(hit['function'] == 'count_up' and hit['process'] for hit in hits), hits[0]
EOT

# A program that writes over the ring loses hits, and no more than that.
watches 0 -e counter -- ./program scribble
grep -q "bytes of hits are lost" messages || fail "$(cat messages)"
[[ $(grep -c '  counter ' hits) -gt 1000 ]] || fail "$(wc -l <hits) hits of 5000"

# What would end us ends the program.
quipu watch --log=hits -e counter -- ./program sleep >output 2>messages &
watch=$!
awaits is_there output
kill -TERM "$watch"
status=0
wait "$watch" || status=$?
[[ $status -eq 143 ]] || fail "SIGTERM: exit status $status: $(cat messages)"

for _ in 1 2 3; do # a busy machine may need more time, once or twice
    begun=$(date +%s%N)
    watches 0 -e counter -- ./program count 1000000 1
    taken=$((($(date +%s%N) - begun) / 1000000))
    [[ $taken -ge 8000 ]] || break
done
[[ $(wc -l <hits) -eq 1000000 ]] || fail "$(wc -l <hits) hits, not a million"
[[ $taken -lt 8000 ]] || fail "a million hits took $taken ms"
rm -f hits
leaves_nothing
