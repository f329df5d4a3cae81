#!/bin/bash
# What a call has changed behind which nothing was compared is told before the memory is written again.
. "$(dirname "$0")/lib.bash"

cat >plain.c <<'EOT'
void fill(char *s, int c) { for (int i = 0; i < 8; i++) s[i] = c; }
EOT
cat >program.c <<'EOT'
#include <string.h>
char word[8];
void fill(char *, int);
static __attribute__((noipa)) void jump(char *s, int c) { fill(s, c); }
static __attribute__((noipa)) void wipe(char *s) { explicit_bzero(s, 8); }
int main(void) {
    jump(word, 'a');
    word[0] = 'b'; /* a store */
    jump(word, 'c');
    wipe(word); /* a call that is known to write there */
    return 0;
}
EOT
gcc -O2 -c plain.c && quipu cc --quipu=watch -O2 -g program.c plain.o -o program || fail "cannot build"
watches 0 --format=json -e word -- ./program
python3 -c '
import json
for hit in map(json.loads, open("hits")):
    print(hit["function"], hit["old_bytes"], hit["new_bytes"], hit["found_later"], hit["undecided"])' >told
diff - told <<'EOT' || fail "hits: $(cat hits)"
jump 0000000000000000 6161616161616161 True False
main 6161616161616161 6261616161616161 False False
jump 6261616161616161 6363636363636363 True True
wipe 6363636363636363 0000000000000000 False False
EOT

# So is what a call has changed before it called back, if calls are recorded.
cat >visit.c <<'EOT'
void visit(unsigned *s, void (*function)(unsigned *)) { *s = 7; function(s); }
EOT
cat >caller.c <<'EOT'
unsigned word;
int others;
void visit(unsigned *s, void (*function)(unsigned *));
static void back(unsigned *s) { *s = 9; }
int main(void) {
    visit(&word, back);
    others++;
    return 0;
}
EOT
gcc -O1 -c visit.c && quipu cc --quipu=watch -O1 -g caller.c visit.o -o calling || fail "cannot build"
watches 1 --format=json --guard word --allow back -- ./calling
python3 -c '
import json
for hit in map(json.loads, open("hits")):
    print(hit["function"], hit["line"], hit["old"], hit["new"], hit["violation"])' >told
diff - told <<'EOT' || fail "called back: $(cat hits)"
main 6 0 7 True
EOT
