#!/bin/bash
# Every source has the house's form.
exec "$(dirname "$0")/../../scripts/check-style"
