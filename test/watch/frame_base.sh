#!/bin/bash
# A local of a function that pushes arguments, as clang 19 and later tell of it: DW_AT_frame_base is the
# CFA and a constant.  The function is
#     int pushes(int n) { volatile int v = n; v = many(1, 2, 3, 4, 5, 6, 7, 8); v = v + 1; return v; }
. "$(dirname "$0")/lib.bash"
quipu cc --quipu=watch "$top/test/watch/parts/pushed.s" -o program || fail "cannot build"
grep -q 'frame_base.*DW_OP_plus' < <(readelf --debug-dump=info program) || fail "no frame's base is a sum"
watches 0 -e pushes::v -- ./program
sed -i '/push %rax/d' hits # makes room for it
sed -i -E 's/v  -?[0-9]+ -> 1 /v  0 -> 1 /' hits
tells 'pushes::v 0 -> 1' 'pushes::v 1 -> 36' 'pushes::v 36 -> 37'
