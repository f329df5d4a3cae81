#!/bin/bash
# Include arrows run one way.
exec "$(dirname "$0")/../../scripts/check-includes"
