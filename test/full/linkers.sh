#!/bin/sh
# linkers.sh: all modes in all kinds of links by all linkers.
exec "$(dirname "$0")/../harness/linkers" --all
