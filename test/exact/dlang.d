// D: classes, closures, templates, exceptions, foreach, switch on strings.
// variants: -O0; -O2; -O3; -O2 -fPIC
// by-callgrind
import core.stdc.stdio;

/* What gdc 14 compiles for 'new' compares the addresses of the object and of its class's first bytes:
 * of a class of the library either may be the lower one. */
class Fault : Exception {
    this(string text) {
        super(text);
    }
}

class Animal {
    int legs() {
        return 4;
    }
}

class Bird : Animal {
    override int legs() {
        return 2;
    }
}

T largest(T)(T[] values) {
    T best = values[0];
    foreach (value; values)
        if (value > best)
            best = value;
    return best;
}

int choose(string name) {
    switch (name) {
    case "one":
        return 1;
    case "two":
        return 2;
    case "three":
        throw new Fault("three");
    default:
        return 0;
    }
}

int tries(string name) {
    scope (exit)
        largest([1, 2]);
    try
        return choose(name);
    catch (Fault e)
        return cast(int) e.msg.length;
}

int main() {
    int sum;
    foreach (animal; [new Animal, new Bird])
        sum += animal.legs();
    foreach (name; ["one", "two", "three", "four"])
        sum += tries(name);
    int delegate(int) add = (int n) => n + sum;
    printf("%d %d %.1f\n", add(3), largest([3, 9, 4]), largest([1.5, 0.5]));
    return 0;
}
