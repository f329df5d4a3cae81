#!/bin/bash
# In no folder do more than three files call each other in a circle.
exec "$(dirname "$0")/../../scripts/check-circles" "${QUIPU_BUILD:?}"
