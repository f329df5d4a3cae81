#!/bin/bash
# html_names.sh: all views of the page have the short names of 'quipu report', without return types
# and long arguments, and the full name as title.
. "$(dirname "$0")/lib.bash"
. "$root/test/browser.sh.inc"
needs chromium

cat >names.cc <<'END'
#define KEPT __attribute__((noinline, noclone))
namespace a_long_namespace {
template <class T, class U> struct table_of_pairs {
    KEPT T insert(T t, U) { return t + 1; }
    KEPT bool operator<(const table_of_pairs &other) const { return this < &other; }
    KEPT operator unsigned long() const { return 7; }
};
}
namespace {
template <class T> KEPT T hidden_function_with_a_name(T t, const char *) { return t; }
}
template <class F> KEPT long apply_to(F f) { return f(3); }
template <class T> KEPT T returns_a_template_argument(T t, long, unsigned long) { return t; }
int main(int argc, char **) {
    a_long_namespace::table_of_pairs<unsigned long, unsigned long> table, other;
    auto closure = [&](long n) KEPT { return n + argc; };
    return table.insert(argc, 2) + (table < other) + static_cast<unsigned long>(table) + apply_to(closure) +
        hidden_function_with_a_name<unsigned long>(1, "") + returns_a_template_argument<unsigned long>(1, 2, 3) == 0;
}
END
"$quipu" c++ --quipu=count,calls -g -O1 names.cc -o names
QUIPU_DATA=data ./names
"$quipu" report --by=function data | sed -n 's/^.* 0  \(.*\) (names.cc:[0-9]*)$/\1/p' >names.txt
grep -qE '::operator unsigned long\(\) const$' names.txt || fail "no conversion: $(cat names.txt)"
[ "$(grep -cF '(...)' names.txt)" -gt 3 ] || fail "the report has no short names: $(cat names.txt)"
"$quipu" export --to=html -o page.html data
for view in functions calls; do
    mapfile -t names <names.txt
    shows page.html $view "${names[@]}"
done
chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --dump-dom \
    --user-data-dir="$PWD/chromium" "file://$PWD/page.html#calls" 2>/dev/null >calls.html
sed 's/&lt;/</g; s/&gt;/>/g' calls.html |
    grep -q 'title="unsigned long returns_a_template_argument<unsigned long>(unsigned long, long, unsigned long)' ||
    fail "Calls has no full names as titles"
