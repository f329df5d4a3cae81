#!/bin/sh
# linkers.sh: all linkers, with and without link-time optimization: every mode tells the same.
exec "$(dirname "$0")/../harness/linkers"
