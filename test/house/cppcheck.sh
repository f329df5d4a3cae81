#!/bin/bash
# cppcheck finds nothing in the tool and the runtime.
. "$(dirname "$0")/../needs.sh.inc"
needs_version cppcheck 2.10
cd "$(dirname "$0")/../.." || exit 1
mkdir -p "${QUIPU_BUILD:-build}/cppcheck"
exec cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
    --inline-suppr --suppress=missingIncludeSystem --suppress=nullPointerRedundantCheck --suppress=nullPointerArithmeticRedundantCheck -D__x86_64__ -D__linux__ \
    --cppcheck-build-dir="${QUIPU_BUILD:-build}/cppcheck" -I. -Isrc -Iinclude -j 2 src library runtime
