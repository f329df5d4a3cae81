#!/bin/bash
# Random programs are asked at random instructions for their events, and must equal their twins.
# timeout: 3600
exec "$(dirname "$0")/../harness/csmith-events" 60 11
