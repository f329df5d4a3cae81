#!/bin/bash
# Three hundred and thirty random programs that the quick test has not seen.
# timeout: 5400
exec "$(dirname "$0")/../harness/csmith" 330 1001
