#!/bin/bash
# CPython as a whole, built to be watched: each case of its own test suite ends as it ends plain.
# timeout: 14400
. "$(dirname "$0")/cpython.bash"
passes_as_plain watch
