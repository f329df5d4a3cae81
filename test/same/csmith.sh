#!/bin/bash
# Twenty-two random programs, one for each variant; test/full/csmith has hundreds.
exec "$(dirname "$0")/../harness/csmith" 22 1
