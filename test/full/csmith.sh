#!/bin/bash
# Random programs that the quick test has not seen: three hundred and eighty, of which at least four
# fifths end by themselves and are compared.
# timeout: 5400
exec "$(dirname "$0")/../harness/csmith" 380 1001
