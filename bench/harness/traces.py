"""Where the bytes of traces are, and how fast they are read: the begin of each program's run, stored
in two ways and read by two readers.

Counted: what the bytes of records are for, as quipu info tells; what they would be if values whose
upper half is 0 had 64 bits, too; and what is stored, of records as they are and taken apart into
streams (--level=3).  Measured: records a second of processor time through the C interface
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
OTHERS = ('vectors', 'signals', 'order', 'accesses_of_calls')
QUIPU = os.path.join(BUILD, 'bin', 'quipu')
LIBRARY = os.path.join(BUILD, 'lib')


def build_reader():
    """The path of bench/traces/read.c's program."""
    reader = os.path.join(WORK, 'read')
    run_shell(f'gcc -O2 -I"{TOP}/include" "{TOP}/bench/traces/read.c" -o "{reader}" '
              f'-L"{LIBRARY}" -Wl,-rpath,"{LIBRARY}" -lquipu-trace', WORK, os.environ)
    return reader


def run(words):
    """(what WORDS print, seconds of processor time)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise Failed(f"{' '.join(words)}\n{done.stderr[-2000:]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def study_trace(program, binary, directory, reader):
    """What the traces of PROGRAM's first command have: plain data for build_traces_table."""
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
    records, rate, _ = run([reader, path])[0].split()
    if int(records) != sums['instructions']:
        raise Failed(f"the C interface gives {records} records, and quipu info {sums['instructions']}")
    seconds = run([QUIPU, 'cache', path])[1]
    shutil.rmtree(folder)
    return {'instructions': sums['instructions'], 'references': sums['reads'] + sums['writes'],
            'bytes': sums['record_bytes'], 'kinds': kinds, 'stored': stored, 'records': float(rate),
            'seconds': seconds}


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
