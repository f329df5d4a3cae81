#!/bin/bash
# A few random programs with random regions; the long suite has hundreds.
exec "$(dirname "$0")/../harness/csmith-watch" 8 21
