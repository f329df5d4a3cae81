"""What is compared: one row of VARIANTS a column of the table.

A variant names its compilers, the options that go in front of the user's, and its base: the variant
that its times are divided by.  Each gets a directory with
`bench-cc`, `bench-c++` and `bench-fortran`, where it has one; builds find them on PATH, so no build system needs to know which variant it builds.
"""
import os
import shutil
import subprocess

from libraries import library_of
from places import BUILD, WORK

QUIPU = {'cc': 'quipu-cc', 'c++': 'quipu-c++', 'fortran': 'quipu-fortran'}
GCC = {'cc': 'gcc', 'c++': 'g++', 'fortran': 'gfortran'}
CLANG = {'cc': 'clang-14', 'c++': 'clang++-14'}


class Variant:
    """A way to build, or with `wrap`, to run what another variant built.

    name: without commas, which separate names on the command line.
    base: divides its run time; None where it is a base itself.
    plain: divides its compile time and sizes.
    builds: compile time is measured, so it is built more than once.
    trained: needs the data of an earlier run of the variant 'quipu' ($BENCH_PROFILE).
    wrap: command in front of the program; such a variant runs the small input, once.
    behind: options behind the user's.
    of: runs what the variant of this name built, under a clock in the program (armed.py).
    regions: "COUNT PLACE" of the regions that are armed then.
    recorder: command in front of what `of` built; the time is then that of the clock on the wall.
    table: the table that it is a column of.
    library: modes of the C library that it is linked with, statically (libraries.py).
    only: names of the programs that it is for; None: all.
    """

    def __init__(self, name, compilers, options, help_text, base='twin', plain='gcc', builds=False,
                 trained=False, wrap=None, behind=(), of=None, regions=None, recorder=None,
                 table='time', library=None, only=None):
        self.name, self.compilers, self.options, self.help = name, compilers, options, help_text
        self.base, self.plain, self.builds = base, plain, builds
        self.trained, self.wrap = trained, wrap
        self.behind, self.of, self.regions, self.table = behind, of, regions, table
        self.recorder = recorder
        self.library, self.only = library, only
        if library:
            self.options = [*options, f'--quipu-libc={library_of(library)}']
        self.wrappers = os.path.join(WORK, 'compilers', name.replace(' ', '-'))

    def missing(self):
        """What this machine or this quipu lacks for it; '' for nothing."""
        command = self.wrap[0] if self.wrap else self.compilers['cc']
        if not shutil.which(command, path=search_path()):
            return f"'{command}' is not installed"
        known = quipu_help() if self.compilers is QUIPU else ''
        for option in self.options:
            if known and option.split('=')[0] not in known:
                return f"'quipu cc' has no '{option.split('=')[0]}'"
        return ''

    def compiles(self, languages):
        """Whether its compilers for all LANGUAGES are installed."""
        return bool(self.wrap) or all(
            language in self.compilers and
            shutil.which(self.compilers[language], path=search_path()) for language in languages)

    def write_wrappers(self):
        """bench-cc and its like: the compiler under the timer of compile times."""
        os.makedirs(self.wrappers, exist_ok=True)
        for language, compiler in self.compilers.items():
            if not self.compiles([language]):
                continue
            path = os.path.join(self.wrappers, f'bench-{language}')
            words = [os.path.join(WORK, 'timed'), shutil.which(compiler, path=search_path())]
            with open(path, 'w', encoding='utf-8') as file:
                quoted = ' '.join(f'"{word}"' for word in words + self.options)
                behind = ''.join(f' "{word}"' for word in self.behind)
                file.write(f'#!/bin/sh\nexec {quoted} "$@"{behind}\n')
            os.chmod(path, 0o755)

    def environment(self):
        """The environment of a build with it."""
        return dict(os.environ, LC_ALL='C', PATH=f'{self.wrappers}{os.pathsep}{os.environ["PATH"]}')


PLACES = {  # of regions, but for variables: word of the variant's name
    'heap': ('heap', ' in the heap'),
    'nowhere': ('elsewhere', ' in no variable, heap or stack'),
    'stack': ('stack', ' in the stack'),
}
FEW_READ = 1000  # variables that the twin need not read, too: it makes no difference


def armed_variants(level, armed):
    """What 'watch' built at LEVEL with regions armed: (COUNT, PLACE) each; and the twins they are
    divided by, which have the same memory."""
    rows, bases = [], set()
    for count, place in armed:
        power, _, exponent = count.partition('^')
        number = int(power) ** int(exponent or 1)
        read = count if place == 'variables' and number > FEW_READ else ''
        base = f'twin{level} clock {read}'.rstrip()
        if base not in bases:
            what = f', {read} variables read' if read else ''
            bases.add(base)
            rows.append(Variant(base, QUIPU, ['--quipu=none'],
                                f'the twin{level} under the clock{what}', base=None,
                                of='twin' + level, regions=f'{number} read' if read else None,
                                table='watch'))
        what = 'one region' if number == 1 else f'{count} regions'
        word, where = PLACES.get(place, ('', ''))
        rows.append(Variant(f'watch{level} {count} {word}'.rstrip(), QUIPU, ['--quipu=watch'],
                            f'watch{level}: {what} armed{where}, none hit', base=base,
                            of='watch' + level, regions=f'{number} {place}', table='watch'))
    return rows


# The others are of other languages, or their configure has found things that glibc alone has.
WITH_MUSL = ('lua', 'bzip2', 'minigzip', 'lz4', 'sqlite3')

VARIANTS = [
    Variant('twin', QUIPU, ['--quipu=none'], 'quipu cc --quipu=none: the same code, not instrumented',
            base=None),
    Variant('gcc', GCC, [], 'plain gcc; only in shared objects a register is reserved', builds=True),
    Variant('reserved', GCC, ['-ffixed-r15'],
            'plain gcc that leaves a register unused, as a counter in a register would need'),
    Variant('quipu', QUIPU, [], 'counters on the chords of a spanning tree', builds=True),
    Variant('block', QUIPU, ['--quipu-placement=block'], 'quipu with a counter in every block'),
    Variant('profile', QUIPU, ['--quipu-profile=$BENCH_PROFILE'],
            'quipu, placed by a profile of the small input', trained=True),
    Variant('event', QUIPU, ['--quipu=event'], 'instructions counted at any instant'),
    Variant('moment', QUIPU, ['--quipu=moment'], 'the software instruction counter'),
    Variant('calls', QUIPU, ['--quipu=calls'], 'a calling context tree of each thread'),
    Variant('watch', QUIPU, ['--quipu=watch'], 'every store checked, no region armed', table='watch'),
    Variant('watch all', QUIPU, ['--quipu=watch', '--quipu-watch=all'],
            'the same, none left out until it is needed', table='watch'),
    *armed_variants('', [('1', 'variables'), ('10^2', 'variables'), ('10^4', 'variables'),
                         ('10^6', 'variables'), ('1', 'heap'), ('1', 'nowhere'), ('10^6', 'nowhere'),
                         ('1', 'stack')]),
    Variant('twin -O0', QUIPU, ['--quipu=none'], 'the twin at -O0', base=None, behind=['-O0'],
            table='watch'),
    Variant('watch -O0', QUIPU, ['--quipu=watch'], 'watch at -O0, no region armed, by the twin at -O0',
            base='twin -O0', behind=['-O0'], table='watch'),
    *armed_variants(' -O0', [('1', 'variables')]),
    Variant('trace', QUIPU, ['--quipu=trace'],
            'all that is executed and accessed, recorded into memory and dropped', table='trace'),
    Variant('trace stored', QUIPU, ['--quipu=trace'],
            'the same, compressed and stored by quipu trace; by the clock on the wall', of='trace',
            recorder=[os.path.join(BUILD, 'bin', 'quipu'), 'trace', '-o', 'data/trace'],
            table='trace'),
    Variant('twin musl', {'cc': 'quipu-cc'}, ['--quipu=none'],
            'the twin, linked statically with musl, which quipu has built', base=None, table='trace',
            library='none', only=WITH_MUSL),
    Variant('trace musl', {'cc': 'quipu-cc'}, ['--quipu=trace'],
            'trace, with the C library, by the twin with musl', base='twin musl', table='trace',
            library='trace', only=WITH_MUSL),
    Variant('moment+trace', QUIPU, ['--quipu=moment,trace'],
            'moment and trace in one build, not recorded, by moment', base='moment', table='trace'),
    Variant('record', QUIPU, ['--quipu=none'], 'the twin, recorded; by the clock on the wall', of='twin',
            recorder=[os.path.join(BUILD, 'bin', 'quipu'), 'record', '-o', 'data/run', '--'],
            table='recording'),
    Variant('all', QUIPU, ['--quipu=count,event,moment'], 'quipu, event and moment in one build'),
    Variant('gcov', GCC, ['--coverage'], 'gcc --coverage', builds=True),
    Variant('clang', CLANG, [], 'plain clang', base=None, plain='clang', builds=True),
    Variant('clang prof', CLANG, ['-fprofile-instr-generate'],
            'clang -fprofile-instr-generate, by plain clang', base='clang', plain='clang',
            builds=True),
    Variant('callgrind', {}, [], 'valgrind --tool=callgrind on the twin, small input',
            wrap=['valgrind', '--quiet', '--tool=callgrind',
                  '--callgrind-out-file=data/callgrind.%p']),
    Variant('lackey', {}, [], 'valgrind --tool=lackey on the twin, small input',
            wrap=['valgrind', '--quiet', '--tool=lackey', '--trace-mem=yes', '--log-file=/dev/null'],
            table='trace'),
]

# Built for --elimination alone, and run once (elimination.py).
COUNTED = [
    Variant('count watch', QUIPU, ['--quipu=count,watch'], 'checks of stores, counted'),
    Variant('count stores', QUIPU, ['--quipu=event', '--quipu-event=stores'], 'stores, counted'),
]


def search_path():
    """Our own commands first."""
    return os.path.join(BUILD, 'bin') + os.pathsep + os.environ['PATH']


def quipu_help():
    """The options that this quipu has."""
    command = [os.path.join(BUILD, 'bin', 'quipu'), 'cc', '--help']
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def choose_variants(names):
    """The usable ones of NAMES (all, where it is empty), their bases with them, in the table's
    order; and a list of what is left out and why."""
    known = {variant.name: variant for variant in VARIANTS}
    for name in names:
        if name not in known:
            raise SystemExit(f"run: error: '{name}': no such variant; --list prints them")
    wanted = {'twin', *(names or known)}
    wanted |= {known[name].base for name in wanted if known[name].base}
    wanted |= {known[name].of for name in wanted if known[name].of}
    wanted |= {'quipu' for name in wanted if known[name].trained}
    missing = {name: known[name].missing() for name in wanted}
    if missing['twin']:
        raise SystemExit(f"run: error: {missing['twin']}; run 'make' first")
    missing.update({name: f"'{known[name].base}' is left out" for name in wanted
                    if known[name].base and missing[known[name].base] and not missing[name]})
    left_out = [f'{name}: left out: {reason}' for name, reason in missing.items() if reason]
    return [v for v in VARIANTS if v.name in wanted and not missing[v.name]], left_out
