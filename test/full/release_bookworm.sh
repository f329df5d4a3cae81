#!/bin/bash
# Debian 12: all tests, with its own compilers and with each other version that it has.
# timeout: 36000
. "$(dirname "$0")/release.bash"
check_release bookworm
