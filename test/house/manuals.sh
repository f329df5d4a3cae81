#!/bin/bash
# Manuals, help and completion say the same; manuals are clean.
cd "$(dirname "$0")/../.." && exec scripts/check-manuals "${QUIPU_BUILD:-build}"
