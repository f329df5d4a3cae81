#!/bin/bash
# Types that a unit only declares, and another one defines: of namespaces, of classes, by 'class'
# where the definition has 'struct', and of the C kind.  Where two units have a type of one name in
# different places, it is the one that is meant.
. "$(dirname "$0")/../bad/lib.bash"
cat >types.h <<'EOT'
namespace store {
class shelf;
struct room { struct door; door *front; };
namespace { struct own { int level; }; }
}
struct shelf;
class lamp;
union both;
void make();
extern volatile int shown;
EOT
cat >main.cc <<'EOT'
#include "types.h"
volatile int shown;
store::shelf *one;
store::room *two;
shelf *three;
lamp *four;
both *five;
int main() {
    make();
    shown = 1;
}
EOT
cat >other.cc <<'EOT'
#include "types.h"
struct shelf { char pad[24]; int level; };
namespace store {
class base { public: virtual ~base(); int weight; };
class shelf : public base { public: long level; struct { short left, right; } parts; };
base::~base() {}
struct room::door { int inner; unsigned width : 5, height : 9; };
}
struct lamp { double watts; };
union both { float real; unsigned bits; };
extern store::shelf *one;
extern store::room *two;
extern shelf *three;
extern lamp *four;
extern both *five;
static store::shelf a;
static store::room::door front;
static store::room b = {&front};
static shelf c;
static lamp d;
static both e;
void make() {
    a.weight = 4, a.level = 17, a.parts.right = -2;
    front.width = 21, front.height = 300;
    c.level = 5, d.watts = 2.5, e.real = 1.5f;
    one = &a, two = &b, three = &c, four = &d, five = &e;
}
EOT
for flags in '' '-gdwarf-4' '-gsplit-dwarf' '-fdebug-types-section'; do
    # shellcheck disable=SC2086
    quipu-c++ --quipu=moment -g -O1 $flags main.cc other.cc -o program || fail "cannot build: $flags"
    while read -r expression; do
        ends 0 quipu when "shown && ($expression)" -- ./program
        grep -q 'becomes true' output || fail "$flags: '$expression': $(cat output)"
    done <<'EOT'
one->level == 17 && one->weight == 4 && one->parts.right == -2
two->front->width == 21 && two->front->height == 300
three->level == 5
four->watts == 2.5
five->bits == 0x3fc00000
EOT
done
