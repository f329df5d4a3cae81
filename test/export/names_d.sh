#!/bin/bash
# names_d.sh: functions of D have the names that their source gives them, in text and as patterns.
. "$(dirname "$0")/lib.bash"
needs gdc
cat >names.d <<'END'
module names;

class Odd : Exception {
    this(string text) { super(text); }
}

int half(int value) {
    if (value & 1)
        throw new Odd("odd");
    return value / 2;
}

T twice(T)(T value) { return 2 * value; }

void main() {
    int sum;
    foreach (i; 0 .. 10) {
        try
            sum += half(i);
        catch (Odd odd)
            sum = twice(sum);
    }
    assert(sum == 52);
}
END
"$quipu" cc --quipu-compiler=gdc -O0 -g names.d -o names
run_program names data
"$quipu" report data >shown
grep -Eq ' 10 .* names\.half\(int\) \(names\.d:7\)$' shown || fail "no 'names.half(int)': $(cat shown)"
grep -q ' D main (' shown || fail "no 'D main': $(cat shown)"
"$quipu" report --function='names.twice!(int).twice(int)' --format=csv data >row
grep -q '^_D5names__T5twiceTiZQjFNaNbNiNfiZi,.*,5,' row || fail "not found by its name: $(cat row)"
