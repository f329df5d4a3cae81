"""One session: builds, checks and measures programs in all variants; the result is plain data.

    {"machine": {...}, "runs": N, "variants": [names], "notes": [text],
     "programs": [{"name", "kind", "title",
                   "seconds": {variant: [each round]},
                   "small": {variant: [seconds]},            with the small input
                   "compile": {variant: [each build]},       programs only
                   "file", "loaded": {variant: bytes},
                   "failed": {variant: text}}],
     "probes": [probes.py]}

Rounds run all variants one after the other, every other round backwards, so that what the machine
does meanwhile falls on all of them alike.  Kernels and queries have a third of the rounds: they show
the worst that can be, which is far above noise.  A variant whose output is not the twin's has failed.
"""
import os
import platform
import shutil
import subprocess
import sys
import time

from armed import Clock, build_clock
from elimination import count_checks, count_stores
from libraries import build_library
from measure import run_workload
from places import BUILD, TOP, WORK, Failed, run_shell
from probes import run_probes
from traces import build_readers, study_trace
from variants import COUNTED, GCC

FEW_RUNS = 3  # at least
SECONDS_BETWEEN_LINES = 20
FEW = ('kernel', 'processes', 'query')  # kinds with a third of the rounds
SMALL_RUNS = 3  # of the twin, to compare with the one run under a wrapping tool


last_line = time.monotonic()


def say(text):
    """Progress: on a terminal one line that replaces itself, elsewhere a line now and then."""
    global last_line
    if sys.stderr.isatty():
        print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)
    elif time.monotonic() - last_line >= SECONDS_BETWEEN_LINES:
        print(text, file=sys.stderr, flush=True)
        last_line = time.monotonic()


class Subject:
    """A program under measurement."""

    def __init__(self, program, variants):
        self.program = program
        self.variants = [v for v in variants if v.compiles(program.languages)
                         and (program.variants is None or v.name in program.variants)
                         and (v.only is None or program.name in v.only)]
        self.binaries, self.outputs = {}, {}
        self.directory = os.path.join(WORK, 'run')
        self.profile = os.path.join(WORK, 'profiles', program.name)
        self.result = {'name': program.name, 'kind': program.kind, 'title': program.name,
                       'seconds': {}, 'small': {}, 'compile': {}, 'file': {}, 'loaded': {},
                       'failed': {}}

    def attempt(self, variant, action):
        """Runs ACTION; where it fails, VARIANT is out, and with the twin the whole program."""
        if variant.name in self.result['failed']:
            return
        try:
            action(variant)
        except Failed as failure:
            self.result['failed'][variant.name] = str(failure)
            self.binaries.pop(variant.name, None)
            if variant.name == 'twin':
                raise

    def build(self, variant):
        """Builds once; notes compile time and sizes."""
        say(f'{self.program.name}: {variant.name}: build')
        log = os.path.join(WORK, 'compile.log')
        with open(log, 'w', encoding='ascii'):
            pass
        if variant.trained and not os.path.isdir(self.profile):
            raise Failed("no profile: the variant 'quipu' failed")
        environment = dict(variant.environment(), BENCH_LOG=log, BENCH_PROFILE=self.profile)
        binary = self.program.build(variant, environment)
        with open(log, encoding='ascii') as file:
            seconds = sum(float(line) for line in file)
        self.binaries[variant.name] = binary
        self.result['compile'].setdefault(variant.name, []).append(seconds)
        self.result['file'][variant.name] = os.path.getsize(binary)
        words = run_shell(f'size "{binary}"', WORK, os.environ).splitlines()[1].split()
        self.result['loaded'][variant.name] = int(words[0]) + int(words[1])

    def train(self, variant):
        """One run of the small input whose data places the counters of the variant 'profile'."""
        shutil.rmtree(self.profile, ignore_errors=True)
        os.makedirs(self.profile)
        commands = self.program.workload(self.binaries[variant.name], True)
        run_workload(commands, self.directory, keep=self.profile)

    def build_all(self, builds):
        """Each variant once, then again those whose compile time counts, in turn."""
        for variant in (v for v in self.variants if not v.wrap and not v.of):
            self.attempt(variant, self.build)
            if variant.name == 'quipu' and any(v.trained for v in self.variants):
                self.attempt(variant, self.train)
        for _ in range(builds - 1 if self.program.kind == 'program' else 0):
            for variant in self.variants:
                if variant.builds:
                    self.attempt(variant, self.build)

    def run(self, variant, small):
        """Runs the workload once, checks its output against the first run's, notes the time."""
        built = 'twin' if variant.wrap else variant.of or variant.name
        if built not in self.binaries:
            raise Failed(f"the variant '{built}' failed")
        commands = self.program.workload(self.binaries[built], small)
        clock = Clock(variant.regions) if variant.of and not variant.recorder else None
        seconds, output = run_workload(commands, self.directory,
                                       variant.wrap or variant.recorder or (), clock=clock,
                                       elapsed=bool(variant.recorder))
        if self.outputs.setdefault(small, output) != output:
            raise Failed("its output is not the twin's")
        self.result['small' if small else 'seconds'].setdefault(variant.name, []).append(seconds)

    def eliminate(self):
        """Counts the checks that are left out, with builds for that alone."""
        values, data = [], self.profile + '-counted'
        try:
            for variant, count in zip(COUNTED, (count_checks, count_stores)):
                say(f'{self.program.name}: {variant.name}')
                binary = self.program.build(variant, variant.environment())
                shutil.rmtree(data, ignore_errors=True)
                os.makedirs(data)
                values.append(count(self.program, binary, self.directory, data))
            self.result['elimination'] = {'kinds': values[0], 'stores': values[1]}
        except Failed as failure:
            self.result['failed']['elimination'] = str(failure)

    def study(self, readers):
        """Records the begin of a run, and reads it."""
        if 'trace' not in self.binaries:
            return
        say(f'{self.program.name}: traces')
        try:
            self.result['traces'] = study_trace(self.program, self.binaries['trace'], self.directory,
                                                readers)
        except Failed as failure:
            self.result['failed']['traces'] = str(failure)

    def measure(self, runs):
        """All rounds.  The first is for the check alone and is not kept."""
        if self.program.kind in FEW:
            runs = max(FEW_RUNS, runs // 3)
        builds = [v for v in self.variants if not v.wrap]
        for number in range(runs + 1):
            say(f'{self.program.name}: round {number} of {runs}')
            if number == 1:
                self.result['seconds'].clear()
            for variant in builds if number % 2 == 0 else reversed(builds):
                self.attempt(variant, lambda v: self.run(v, False))
        wraps = [v for v in self.variants if v.wrap]
        for variant in [builds[0]] * SMALL_RUNS + wraps if wraps else []:
            say(f'{self.program.name}: {variant.name}, small input')
            self.attempt(variant, lambda v: self.run(v, True))


def first_line(command):
    """What a tool says of its version."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).splitlines()[0].strip()
    except (OSError, IndexError):
        return f'no {command[0]}'


def describe_machine():
    """Who measured what with which compilers."""
    cpu = {}
    for line in run_shell('lscpu', WORK, dict(os.environ, LC_ALL='C')).splitlines():
        key, _, value = line.partition(':')
        cpu.setdefault(key.strip(), value.strip())
    model = f"{cpu.get('Model name', 'unknown')}, family {cpu.get('CPU family', '?')}, " \
            f"model {cpu.get('Model', '?')}, {os.cpu_count()} processors"
    if cpu.get('Hypervisor vendor'):
        model += f", virtual ({cpu['Hypervisor vendor']})"
    quipu = first_line([os.path.join(BUILD, 'bin', 'quipu'), '--version']).split()[-1]
    commit = first_line(['git', '-C', TOP, 'describe', '--always', '--dirty'])
    return {'processor': model, 'system': f'{platform.system()} {platform.release()}',
            'date': time.strftime('%Y-%m-%d %H:%M'), 'load at start': f'{os.getloadavg()[0]:.2f}',
            'quipu': f'{quipu}, {commit}', 'gcc': first_line(['gcc', '--version']),
            'clang': first_line(['clang-14', '--version']),
            'valgrind': first_line(['valgrind', '--version'])}


def run_session(programs, variants, runs, builds, notes, elimination=False, traces=False):
    """Measures PROGRAMS; returns the result.  A program that fails whole is in it, with its text
    under 'twin'.  ELIMINATION: checks of stores are counted, too.  TRACES: what the traces of
    programs and kernels have is studied, too (traces.py)."""
    os.makedirs(WORK, exist_ok=True)
    run_shell(f'gcc -O2 -o timed "{TOP}/bench/timed.c"', WORK, os.environ)
    for variant in variants + COUNTED if elimination else variants:
        if not variant.wrap and not variant.of:
            variant.write_wrappers()
    for modes in sorted({variant.library for variant in variants if variant.library}):
        say(f"C library: {modes}")
        build_library(modes)
    if any(variant.of for variant in variants):
        build_clock()
    readers = build_readers() if traces else None
    result = {'machine': describe_machine(), 'runs': runs, 'builds': builds, 'notes': notes,
              'variants': [v.name for v in variants], 'programs': [], 'probes': []}
    for program in (p for p in programs if p.kind != 'probe'):
        lacking = [GCC[name] for name in program.languages if not shutil.which(GCC[name])]
        if lacking:
            notes.append(f"{program.name}: left out: '{lacking[0]}' is not installed")
            continue
        subject = Subject(program, variants)
        result['programs'].append(subject.result)
        try:
            say(f'{program.name}: fetch and configure')
            program.prepare()
            subject.result['title'] = program.title
            subject.build_all(builds)
            subject.measure(runs)
            if elimination and program.kind in ('program', 'kernel'):
                subject.eliminate()
            if traces and program.kind in ('program', 'kernel'):
                subject.study(readers)
        except Failed as failure:
            subject.result['failed'].setdefault('twin', str(failure))
    if any(variant.name == 'watch' for variant in variants):
        say('probes')
        probes = [p for p in programs if p.kind == 'probe']
        try:
            result['probes'] = run_probes(probes, runs, notes)
        except Failed as failure:
            notes.append(f'FAILED probes: {failure}')
    say('')
    return result
