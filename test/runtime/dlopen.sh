#!/bin/sh
# dlopen.sh: shared objects that come and go share the process's file and keep their slots.
. "$(dirname "$0")/common.sh.inc"

link shared liblibrary.so "$here/library.c"
plain host "$here/host.c"
silent ./host reopen ./liblibrary.so 200
test "$(ls quipu.data | wc -l)" = 1 || fail "reopening made files: $(ls quipu.data)"
expect liblibrary.so "cells 200 4000" quipu.data "reopen"
test "$(grep -c ^module shown)" = 1 || fail "the module was entered twice"
owned=$(sed -n 's/^total .*owned=\([0-9]*\).*/\1/p' shown)
test "$owned" -le 16 || fail "reopening took $owned slots"

rm -rf quipu.data
silent ./host fork ./liblibrary.so
test "$(ls quipu.data | wc -l)" = 2 || fail "expected two files: $(ls quipu.data)"
expect liblibrary.so "cells 3 111" quipu.data "fork between dlclose and dlopen"

# Two modules of one process, one of them opened from another directory.
link exe program -DOPENS "$here/program.c"
rm -rf quipu.data
silent ./program open-elsewhere "$work/liblibrary.so"
test "$(ls quipu.data | wc -l)" = 2 || fail "expected two files: $(ls quipu.data)"
test ! -e /quipu.data || fail "a directory was made elsewhere"
expect liblibrary.so "cells 1 12" quipu.data "opened after chdir"
expect program "cells 2 1 12 0 1" quipu.data "opened after chdir"

# Two modules of one process that do not see each other's note: they meet by the file's name.
objcopy --remove-section .note.quipu liblibrary.so
link exe program "$here/program.c" -Wl,--no-as-needed -L. -llibrary -Wl,-rpath,"$work"
rm -rf quipu.data
silent ./program fork
test "$(ls quipu.data | wc -l)" = 2 || fail "expected two files: $(ls quipu.data)"
expect liblibrary.so "slots=128 owned=2 threads=2 cells 1 0" quipu.data "met by name"
expect program "cells 2 1 1100 0 1" quipu.data "met by name"
exit 0
