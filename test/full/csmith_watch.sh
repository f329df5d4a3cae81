#!/bin/bash
# Random programs, random regions: 'quipu watch' tells of the changes that the oracle sees.
# timeout: 5400
exec "$(dirname "$0")/../harness/csmith-watch" 400 1001
