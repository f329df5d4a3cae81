"""Where the bytes of traces are, and how fast they are read: the begin of each program's run, stored
in two ways and read by two readers.

Counted: what the bytes of records are for, as quipu info tells; what they would be if values whose
upper half is 0 had 64 bits, too; and what is stored, of records as they are and taken apart into
streams (--level=3); and what the path would take in other ways (bench/traces/paths.c).  Measured: records a second of processor time through the C interface
(bench/traces/read.c), and references a second of quipu cache; once each, so they are as good as the
machine is quiet.
"""
import json
import os
import resource
import shutil
import subprocess

from measure import run_workload
from places import BUILD, TOP, WORK, Failed, run_shell
from ratios import geometric_mean
from table import Table

FIRST = 100_000_000  # instructions of each thread
LEVELS = {'as they are': '1', 'apart': '3'}
WAYS = ('branches', 'paths', 'turns')  # of bench/traces/paths.c
OTHERS = ('vectors', 'signals', 'order', 'accesses_of_calls')
QUIPU = os.path.join(BUILD, 'bin', 'quipu')
LIBRARY = os.path.join(BUILD, 'lib')


def build_reader(name):
    """The path of the program of bench/traces/NAME.c."""
    reader = os.path.join(WORK, name)
    run_shell(f'gcc -O2 -I"{TOP}/include" "{TOP}/bench/traces/{name}.c" -o "{reader}" '
              f'-L"{LIBRARY}" -Wl,-rpath,"{LIBRARY}" -lquipu-trace -lZydis -lzstd', WORK, os.environ)
    return reader


def build_readers():
    """By their names, those that study_trace runs."""
    return {name: build_reader(name) for name in ('read', 'paths')}


def run(words):
    """(what WORDS print, seconds of processor time)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Failed(f"{' '.join(words)}\n{done.stderr[-2000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def study_trace(program, binary, directory, readers):
    """What the traces of PROGRAM's first command have, by READERS: plain data for the tables."""
    folder = os.path.join(WORK, 'traces')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    commands = program.workload(binary, False)[:1]
    stored = {}
    for way, level in LEVELS.items():
        path = os.path.join(folder, level)
        run_workload(commands, directory, keep=folder,
                     wrap=[QUIPU, 'trace', f'--first={FIRST}', f'--level={level}', '-o', path, '--'])
        stored[way] = os.path.getsize(path)
    path = os.path.join(folder, LEVELS['as they are'])
    facts, = json.loads(run([QUIPU, 'info', '--format=json', path])[0])['traces']
    sums = {key: sum(thread[key] for thread in facts['threads'])
            for key in ('instructions', 'reads', 'writes', 'record_bytes')}
    kinds = {kind: sum(thread['bytes'][kind] for thread in facts['threads'])
             for kind in facts['threads'][0]['bytes']}
    records, rate, _ = run([readers['read'], path])[0].split()
    if int(records) != sums['instructions']:
        raise Failed(f"the C interface gives {records} records, and quipu info {sums['instructions']}")
    seconds = run([QUIPU, 'cache', path])[1]
    ways = {name: [int(number) for number in numbers] for name, *numbers in
            map(str.split, run([readers['paths'], path])[0].splitlines()[1:])}
    shutil.rmtree(folder)
    return {'instructions': sums['instructions'], 'references': sums['reads'] + sums['writes'],
            'bytes': sums['record_bytes'], 'kinds': kinds, 'stored': stored, 'records': float(rate),
            'seconds': seconds, 'ways': ways}


def build_traces_table(result):
    """A row for each program that was studied; None where none was."""
    rows, studied = [], []
    for program in result['programs']:
        found = program.get('traces')
        if not found:
            continue
        count, kinds = found['instructions'], found['kinds']
        an_instruction = [
            found['bytes'], kinds['path'], kinds['calls'], kinds['values'], kinds['narrow_values'],
            sum(kinds[kind] for kind in OTHERS), found['bytes'] + kinds['narrow_values'],
            *(found['stored'][way] for way in LEVELS)]
        values = [*(value / count for value in an_instruction), found['records'] / 1e6,
                  (found['references'] + count) / found['seconds'] / 1e6]
        studied.append(values)
        rows.append([program['title'], f'{count / 1e6:,.1f}', *(f'{v:.3f}' for v in values[:-2]),
                     *(f'{v:.1f}' for v in values[-2:])])
    if not rows:
        return None
    means = [geometric_mean(column) if all(column) else None for column in zip(*studied)]
    rows += [None, ['geometric mean', '', *('' if v is None else f'{v:.3f}' for v in means[:-2]),
                    *('' if v is None else f'{v:.1f}' for v in means[-2:])]]
    heads = ['', 'instructions, 10^6', 'records', 'path', 'calls', 'values', 'narrow values', 'others',
             'if values were wide', *(f'stored: {way}' for way in LEVELS), 'C interface, 10^6 records/s',
             'cache, 10^6 references/s']
    return Table(f'Traces of the first {FIRST // 10**6} million instructions: bytes an instruction', heads,
                 rows)


def build_paths_table(result):
    """What tells the path, by program: events, bytes, and what zstd leaves of them, an instruction."""
    rows = []
    for program in result['programs']:
        found = program.get('traces')
        if not found:
            continue
        count, ways = found['instructions'], found['ways']
        columns = [[ways[way][part] / count for way in WAYS] for part in range(3)]
        columns[1].insert(0, found['kinds']['path'] / count)
        rows.append([program['title'], *(f'{v:.4f}' for column in columns for v in column)])
    if not rows:
        return None
    heads = ['', *(f'{way}: events' for way in WAYS), 'now: bytes', *(f'{way}: bytes' for way in WAYS),
             *(f'{way}: stored' for way in WAYS)]
    return Table('Ways to tell the path, an instruction', heads, rows)
