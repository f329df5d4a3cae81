#!/bin/bash
# Objects that pointers and indexes lead to: the first target, or with --follow all of them.
. "$(dirname "$0")/lib.bash"
make_standin

watches 3 -e 'head->next->value' -e 'config.limits[index_of]' -e 'filled->value' -- ./program pointers
tells 'head->next->value 0 -> 42' 'head->next->value 42 -> 43' 'filled->value 0 -> 44' \
    'filled->value 44 -> 45'

watches 3 --follow -e 'head->next->value' -e 'config.limits[index_of]' -e 'filled[0..0]' \
    -- ./program pointers
tells 'head->next->value 0 -> 42' 'filled[0].value 0 -> 44' 'head->next->value 0 -> 44' \
    'filled[0].value 44 -> 45' 'head->next->value 1 -> 46' 'config.limits[index_of] 0 -> 55'

watches 3 --if 'new > 44' -e '(*head).value' -e 'filled->value' -- ./program pointers
tells 'filled->value 44 -> 45' '(*head).value 1 -> 46'
watches 3 --if 'new.next' -e '*head' -- ./program pointers
sed -i -E 's/0x[1-9a-f][0-9a-f]*/P/g' hits
tells '(*head).next 0x0 -> P' '(*head).next P -> P' '(*head).value 1 -> 46'
leaves_nothing
