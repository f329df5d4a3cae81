#!/bin/bash
# SQLite: configure, make, the shell, and its veryquick tests, some hundreds of thousands.  What fails
# must fail in a plain build too (io-5.5 does, on file systems whose sectors are not what it expects).
# timeout: 7200
. "$(dirname "$0")/lib.bash"
fetch sqlite3
cp -a sqlite3 plain
cd sqlite3 || exit 1
flags='-g -DSQLITE_ENABLE_DBPAGE_VTAB' # the shell's .recover, which the tests use, needs it
CC=quipu-cc CFLAGS="-O2 $flags" step ./configure --disable-readline
step make -j2 sqlite3 testfixture
instrumented .libs/libsqlite3.so.0.8.6 1400
instrumented testfixture 2500
mkdir -p "$data"
as_user=()
if [[ $(id -u) -eq 0 ]]; then # the tests refuse to run as root
    chmod 755 "$top"
    chown -R nobody . ../plain "$data"
    as_user=(setpriv --reuid=nobody --clear-groups)
fi
QUIPU_DATA=$data "${as_user[@]}" ./testfixture test/veryquick.test >"$top/veryquick.log" 2>&1
grep -qE '^[0-9]+ errors out of [0-9]{5,} tests' "$top/veryquick.log" ||
    fail "veryquick: $(tail -n 40 "$top/veryquick.log")"
failed=$(sed -n 's/^!Failures on these tests: //p' "$top/veryquick.log")
[[ -n $failed ]] || exit 0
cd ../plain || exit 1
CC=gcc CFLAGS="-O1 $flags" step ./configure --disable-readline
step make -j2 sqlite3 testfixture
[[ $(id -u) -ne 0 ]] || chown -R nobody .
for name in $failed; do
    "${as_user[@]}" ./testfixture "test/${name%%-*}.test" >"$top/plain.log" 2>&1
    grep -qw -- "$name" < <(sed -n 's/^!Failures on these tests: /&/p' "$top/plain.log") ||
        fail "'$name' fails instrumented, but not in a plain build: $(grep "^! $name" "$top/veryquick.log")"
done
