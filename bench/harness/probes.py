"""What regions and hits cost by themselves, and what other tools' watchpoints do: programs in
bench/watch that take their own time.

A probe is measured with the variant 'watch'.  Its result is
    {"name", "table", "title", "how", "values": {column: [each round]}, "failed": text or ''}.
"""
import os
import re
import shutil
import signal
import statistics
import subprocess
import time

from places import BUILD, TOP, WORK, Failed, run_shell
from table import Table

LONGEST = 120  # seconds for one command
ROUNDS = 3  # at least
LOGGED = 2_000_000

BUILD_ALL = '''
    flags="-O2 -g -I$TOP/include" source="$TOP/bench/watch"
    gcc $flags -c "$source/regions.c"
    quipu-cc --quipu=watch $flags "$source/service.c" "$source/settle.c" regions.o -o service
    quipu-cc --quipu=watch $flags "$source/turns.c" -o turns
    quipu-cc --quipu=none $flags "$source/turns.c" -o turns-twin'''

GDB = '''set confirm off
set pagination off
set can-use-hw-watchpoints {hardware}
{start}
set $stops = 0
watch cell
commands
silent
set $stops = $stops + 1
continue
end
continue
printf "stops %d\\n", $stops
'''


def run(words, environment=None):
    """What WORDS print to standard output, in the probes' directory.  Failed after LONGEST."""
    process = subprocess.Popen(words, cwd=directory(), stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=dict(os.environ, LC_ALL='C', **environment or {}),
                               start_new_session=True)
    try:
        text, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired as late:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"{' '.join(words)}\nwas not done after {LONGEST} s") from late
    if process.returncode:
        raise Failed(f"{' '.join(words)}\nexit status {process.returncode}\n{text[-2000:]}")
    return text


def number(name, text):
    """The number behind the word NAME in a line of its own."""
    found = re.search(rf'^{name} ([0-9.]+)$', text, re.MULTILINE)
    if not found:
        raise Failed(f"no '{name}' in:\n{text[-2000:]}")
    return float(found.group(1))


def directory():
    """Where the programs are."""
    return os.path.join(WORK, 'watch')


def quipu(*words):
    """A command of quipu."""
    return [os.path.join(BUILD, 'bin', 'quipu'), *words]


def seconds_of_log(turns):
    """Seconds on the clock on the wall until so many hits are in a file."""
    log = os.path.join(directory(), 'log')
    begin = time.monotonic()
    run(quipu('watch', '--log', log, '-e', 'cell', '--', './turns', str(turns), 'hit'))
    seconds = time.monotonic() - begin
    with open(log, 'rb') as file:
        lines = sum(block.count(b'\n') for block in iter(lambda: file.read(1 << 20), b''))
    os.remove(log)
    if lines != turns:
        raise Failed(f'{lines} of {turns} hits are in the file')
    return seconds


def run_service():
    """Nanoseconds to make a region, to delete it, and of a hit."""
    text = run(['./service'])
    return {name: number(name, text) for name in ('create', 'delete', 'hit')}


def run_log():
    """Nanoseconds of a hit in a file, start and end left out."""
    return {'log': (seconds_of_log(LOGGED) - seconds_of_log(1)) / (LOGGED - 1) * 1e9}


def run_turns(program, turns):
    """Without a debugger."""
    return {'miss': number('turn', run([f'./{program}', str(turns), 'miss']))}


def run_quipu_turns():
    """A turn by 'quipu watch', and one that hits."""
    log = os.path.join(directory(), 'log')
    command = quipu('watch', '--log', log, '-e', 'cell', '--', './turns')
    return {'miss': number('turn', run([*command, '50000000', 'miss'])),
            'hit': number('turn', run([*command, '1000000', 'hit']))}


def write_script(hardware, start):
    """A script for gdb; its path."""
    path = os.path.join(directory(), 'script.gdb')
    with open(path, 'w', encoding='ascii') as file:
        file.write(GDB.format(hardware=hardware, start=start))
    return path


def by_stops(text, turns):
    """Nanoseconds for each of gdb's stops, and the share of writes that it has stopped at."""
    stops = number('stops', text)
    if not stops:
        raise Failed(f'gdb did not stop, for {turns} writes')
    return {'hit': number('turn', text) * turns / stops, 'told': stops / turns}


def run_gdb(hardware, misses, hits):
    """A turn under gdb, and one that hits."""
    command = ['gdb', '-nx', '-batch', '-x', write_script(hardware, 'break ready\nrun'), '--args',
               './turns-twin']
    return {'miss': number('turn', run([*command, str(misses), 'miss'])),
            **by_stops(run([*command, str(hits), 'hit']), hits)}


def run_under_vgdb(turns, kind):
    """What gdb and the program print, the program under valgrind, whose gdbserver has the watchpoint."""
    prefix = os.path.join(directory(), 'vgdb')
    output = os.path.join(directory(), 'output')
    with open(output, 'w+', encoding='ascii') as sink:
        server = subprocess.Popen(
            ['valgrind', '--quiet', '--tool=memcheck', '--vgdb=yes', '--vgdb-error=0',
             f'--vgdb-prefix={prefix}', './turns-twin', str(turns), kind], cwd=directory(),
            stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            start = f'target remote | vgdb --wait=20 --vgdb-prefix={prefix} --pid={server.pid}\n' \
                    'break ready\ncontinue'
            text = run(['gdb', '-nx', '-batch', '-x', write_script(1, start), './turns-twin'])
            server.wait(LONGEST)
        except subprocess.TimeoutExpired as late:
            raise Failed(f'valgrind was not done after {LONGEST} s') from late
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()
        sink.seek(0)
        return sink.read() + text


def run_vgdb():
    """A turn under valgrind, and one that hits."""
    return {'miss': number('turn', run_under_vgdb(200_000, 'miss')),
            **by_stops(run_under_vgdb(200, 'hit'), 200)}


class Probe:
    """A row.  NEEDS: commands without which it is left out; MEASURE: function that gives one round's
    values by column."""

    kind = 'probe'

    def __init__(self, name, table, title, how, measure, needs=()):
        self.name, self.table, self.title, self.how = name, table, title, how
        self.measure, self.needs = measure, needs

    def missing(self):
        """What this machine lacks for it; '' for nothing."""
        return ''.join(f"'{word}' is not installed" for word in self.needs if not shutil.which(word))

    def run(self, rounds):
        """All rounds; the result."""
        result = {'name': self.name, 'table': self.table, 'title': self.title, 'how': self.how,
                  'values': {}, 'failed': ''}
        try:
            for _ in range(max(ROUNDS, rounds // 3)):
                for column, value in self.measure().items():
                    result['values'].setdefault(column, []).append(value)
        except Failed as failure:
            result['failed'] = str(failure)
        return result


PROBES = [
    Probe('regions', 'service', 'quipu_watch_create, quipu_watch_delete, a hit told to a handler',
          'bench/watch/service.c, with 10^6 other regions', run_service),
    Probe('log', 'service', 'a hit in a file', 'quipu watch --log FILE -e cell -- ./turns', run_log),
    Probe('turns', 'peers', 'nothing', './turns', lambda: run_turns('turns-twin', 100_000_000)),
    Probe('turns-quipu', 'peers', 'quipu watch', 'quipu watch --log FILE -e cell -- ./turns',
          run_quipu_turns),
    Probe('gdb-software', 'peers', 'gdb, software watchpoint', 'set can-use-hw-watchpoints 0',
          lambda: run_gdb(0, 500, 200), needs=('gdb',)),
    Probe('gdb-hardware', 'peers', 'gdb, hardware watchpoint', 'set can-use-hw-watchpoints 1',
          lambda: run_gdb(1, 10_000_000, 500), needs=('gdb',)),
    Probe('vgdb', 'peers', "valgrind's gdbserver", 'valgrind --tool=memcheck --vgdb=yes', run_vgdb,
          needs=('valgrind', 'vgdb', 'gdb')),
]


def build_probes():
    """Builds their programs."""
    os.makedirs(directory(), exist_ok=True)
    path = os.path.join(BUILD, 'bin') + os.pathsep + os.environ['PATH']
    run_shell(BUILD_ALL, directory(), dict(os.environ, TOP=TOP, PATH=path))


def run_probes(probes, rounds, notes):
    """The results of PROBES; what is left out is added to NOTES."""
    usable = []
    for probe in probes:
        reason = probe.missing()
        if reason:
            notes.append(f'{probe.name}: left out: {reason}')
        else:
            usable.append(probe)
    if not usable:
        return []
    build_probes()
    return [probe.run(rounds) for probe in usable]


# ---- Tables ----

ACTIONS = [('create', 'to make a region, 10^6 others present', 1000),
           ('delete', 'to delete it', 1000), ('hit', 'a hit told to a handler', None),
           ('log', 'a hit in a file (1000: a million a second)', 1000)]


def median_of(result, column, table):
    """The median of a column's rounds, over the probes of TABLE; None for none."""
    for probe in result.get('probes', []):
        if probe['table'] == table and not probe['failed'] and probe['values'].get(column):
            return statistics.median(probe['values'][column])
    return None


def build_service_table(result):
    """Hits, arming: a row for each action."""
    rows = []
    for column, title, _ in ACTIONS:
        value = median_of(result, column, 'service')
        if value is not None:
            rows.append([title, f'{value:.1f}', f'{1e9 / value:,.0f}'])
    return Table('Hits, arming', ['', 'ns', 'a second'], rows)


def build_peers_table(result):
    """A row for each tool."""
    probes = [p for p in result.get('probes', []) if p['table'] == 'peers']
    base = next((statistics.median(p['values']['miss']) for p in probes
                 if p['name'] == 'turns' and p['values'].get('miss')), None)
    rows = []
    for probe in probes:
        miss, hit, told = (statistics.median(probe['values'][column])
                           if probe['values'].get(column) else None
                           for column in ('miss', 'hit', 'told'))
        cells = ['' if miss is None else f'{miss:,.2f}',
                 f'{miss / base:,.1f}' if miss is not None and base else '',
                 '' if hit is None else f'{hit:,.0f}', '' if told is None else f'{told:.0%}']
        rows.append([probe['title'], *(['failed'] * 4 if probe['failed'] else cells), probe['how']])
    return Table('A loop with one store a turn, one variable watched',
                 ['', 'no hit: ns a turn', 'times', 'a hit: ns', 'told', 'how'], rows)


def probe_goals(result):
    """(label, nanoseconds, limit) of what was measured and has a limit."""
    for column, title, limit in ACTIONS:
        value = median_of(result, column, 'service')
        if limit and value is not None:
            yield f'watch, {title}, nanoseconds', value, limit
