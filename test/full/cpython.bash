# cpython.bash: what the tests with CPython share: the whole of it at -O3, without optimization by profile or
# at link time, and its own test suite, plain and instrumented.  Left out are the tests of sockets of
# virtual machines, which wait for ever in some, and the one that builds CPython once more.  A test with
# an empty environment leaves its data in the working directory: the suite tells that as a changed
# environment, and not as a failure.
. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# build DIRECTORY CC CXX
build() {
    cp -a python3.11 "$1"
    cd "$1" || exit 1
    step ./configure CC="$2" CXX="$3" OPT='-O3 -g -DNDEBUG -fwrapv -Wall'
    step make -j2
    cd "$top" || exit 1
}

# suite DIRECTORY CASES ARGS...: runs tests, and leaves their cases in CASES.  A suite that is started
# with the interrupt ignored fails.
suite() {
    local directory=$1 cases=$2
    shift 2
    mkdir -p "$top/data-$directory"
    chmod 1777 "$top/data-$directory"
    (cd "$top/$directory" && QUIPU_DATA=$top/data-$directory env --default-signal=INT ./python -m test \
        --timeout 1800 -i '*VSOCK*' -i '*test_freeze*' --junit-xml "$top/$cases" "$@") \
        >"$top/suite.log" 2>&1 </dev/null
    rm -rf "$top/data-$directory"
}

# differing DIRECTORY: the cases that do not end as they do plain, each with its file of tests.  Of the
# runs in plain.*.xml the worst end of a case is taken, of those in DIRECTORY.*.xml the best.
differing() {
    python3 - "$1" 2>>"$top/numbers" <<'END'
import glob, re, sys, xml.etree.ElementTree as tree
ENDS = ['fails', 'is not run', 'is skipped', 'passes']
def read(path):
    ends = {}
    for case in tree.parse(path).iter('testcase'):
        name, kinds = case.get('name') or '', {child.tag for child in case}
        end = 'fails' if kinds & {'failure', 'error'} else \
            'is skipped' if 'skipped' in kinds or case.get('result') == 'skipped' else 'passes'
        ends[name] = min(ends.get(name, end), end, key=ENDS.index)
    return ends
def together(directory, choose):
    runs = [read(path) for path in sorted(glob.glob(f'{directory}.*.xml'))]
    return {name: choose((run[name] for run in runs if name in run), key=ENDS.index)
            for name in set().union(*runs)}
plain, ours = together('plain', min), together(sys.argv[1], max)
ends = {name: (plain.get(name, 'is not run'), ours.get(name, 'is not run')) for name in set(plain) | set(ours)}
for name, (a, b) in sorted(ends.items()):
    if ENDS.index(a) > ENDS.index(b):
        found = re.search(r'test_\w*', name)
        print(found.group() if found else '-', f"'{name}' {a} plain and {b} instrumented")
same = [a for a, b in ends.values() if a == b]
print(f"{sys.argv[1]}: of {len(ends)} cases {len(same)} end as they do plain, {same.count('passes')} pass", file=sys.stderr)
END
}

# compare DIRECTORY: all its cases end as they do plain; what does not is left in the file differing.
compare() {
    differing "$1" >differing || fail "the cases cannot be compared: $(tail -n 5 numbers)"
    [[ ! -s differing ]]
}

# passes_as_plain MODE: CPython built in MODE passes its tests as the plain one does.  What does not is run
# again by itself, three times at most, and must then do so.  Tests look for words of three letters in
# messages that hold the path, so the trees' names must not hold those of modes.
passes_as_plain() {
    local mode=$1 try names passed
    fetch python3.11
    keep_few_data
    # A patch of Debian's wants what setup.py does not define; Debian builds this module otherwise.
    step sed -i "s/Extension('pyexpat', sources=\['pyexpat.c'\]/&, extra_compile_args=['-DPy_BUILD_CORE_MODULE']/" \
        python3.11/setup.py
    build plain gcc g++
    suite plain plain.1.xml -j2
    build instrumented "quipu-cc --quipu=$mode" "quipu-c++ --quipu=$mode"
    all_units instrumented/python 140
    suite instrumented instrumented.1.xml -j2
    cp suite.log instrumented.log
    names=()
    for try in 2 3 4; do
        compare instrumented && break
        mapfile -t names < <(cut -d ' ' -f 1 differing | grep -v '^-' | sort -u)
        [[ ${#names[@]} -gt 0 ]] && suite instrumented "instrumented.$try.xml" -v "${names[@]}"
    done
    # What fails by itself in any build is no difference.
    cp suite.log ours.log
    compare instrumented || [[ ${#names[@]} -eq 0 ]] || suite plain plain.2.xml -v "${names[@]}"
    compare instrumented || fail "$mode: $(cat differing) $(tail -n 60 ours.log)"
    tail -n 1 numbers
    passed=$(sed -n '$s/.*, \([0-9]*\) pass$/\1/p' numbers)
    [[ ${passed:-0} -gt 30000 ]] || fail "only ${passed:-0} cases pass, plain, too"
}
