#!/bin/bash
# Every source has the house's form.
. "$(dirname "$0")/../needs.sh.inc"
needs_version clang-format 14.0.6
needs_version shellcheck 0.9.0
exec "$(dirname "$0")/../../scripts/check-style"
