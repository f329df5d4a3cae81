"""A table like table 2 of the paper: R. Wahbe, S. Lucco and S. L. Graham, "Practical Data Breakpoints:
Design and Implementation", PLDI 1993: which checks of stores are left out until a region needs them.

Counted, not measured: on the small input, in builds that count each instruction beside the checks.
The section quipu_sites tells where checks are and of which kind (src/data/watch_format.h); a check
is executed as often as the original instruction that follows it.  All stores, push and call among
them, are counted as events by another build.

Where it is not perfect: a string instruction is a store for each of its turns and one check; stores
that one look checks together are told as such, also where that look is left out.
"""
import bisect
import csv
import os
import struct
import subprocess

from measure import run_workload
from places import BUILD, Failed
from ratios import paired, ratio, show
from table import Table

KINDS = ('variable', 'stack', 'push', 'checked')  # 'push': and call


def quipu(*words):
    """What a command of quipu prints: rows of CSV as dictionaries."""
    done = subprocess.run([os.path.join(BUILD, 'bin', 'quipu'), words[0], '--format=csv', *words[1:]],
                          text=True, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"quipu {' '.join(words)}\n{done.stderr}")
    return list(csv.DictReader(done.stdout.splitlines()))


def read_section(path, wanted):
    """(address, bytes) of a section of an ELF file; Failed where it is not there."""
    with open(path, 'rb') as file:
        data = file.read()
    table, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    headers = [struct.unpack_from('<IIQQQQ', data, table + i * size) for i in range(count)]
    for name, _, _, address, offset, length in headers:
        start = headers[names][4] + name
        if data[start:data.index(b'\0', start)] == wanted.encode():
            return address, data[offset:offset + length]
    raise Failed(f"'{path}' has no section '{wanted}'")


def read_checks(path):
    """(place, kind) of each check; kind is one of KINDS, but 'push', which is in 'stack'.  Behind the
    row of a check that is left out stands that of its jump out of line."""
    address, data = read_section(path, 'quipu_sites')
    left_out = False
    for offset in range(0, len(data), 16):
        place, code, target, _ = struct.unpack_from('<iiiI', data, offset)
        if not left_out:
            kind = 'checked' if not code else 'variable' if target else 'stack'
            yield address + offset + place, kind
        left_out = code != 0


def is_push(text):
    return text.startswith(('push', 'call'))


def count_checks(program, binary, directory, data):
    """{kind: [in the code, executed]} of a build with --quipu=count,watch."""
    run_workload(program.workload(binary, True), directory, keep=data)
    rows = sorted((int(row['address']), int(row['count']), row['text'])
                  for row in quipu('report', '--by=instruction', data)
                  if row['address'] and
                  os.path.realpath(row['module']) == os.path.realpath(binary))
    addresses = [row[0] for row in rows]
    kinds = {kind: [0, 0] for kind in KINDS}
    for place, kind in read_checks(binary):
        index = bisect.bisect_left(addresses, place)
        if index == len(rows):
            continue
        kind = 'push' if kind == 'stack' and is_push(rows[index][2]) else kind
        kinds[kind][0] += 1
        kinds[kind][1] += rows[index][1]
    kinds['push'][1] = sum(count for _, count, text in rows if is_push(text))
    return kinds


def count_stores(program, binary, directory, data):
    """Stores executed, by a build with --quipu=event --quipu-event=stores."""
    run_workload(program.workload(binary, True), directory, keep=data)
    return sum(int(row['count']) for row in quipu('stat', '--data', data) if row['event'] == 'stores')


def percent(part, whole):
    return f'{100 * part / whole:.1f}%' if whole else ''


def build_elimination_table(result):
    """A row for each program that was counted; None where none was."""
    rows = []
    for program in result['programs']:
        counted = program.get('elimination')
        if not counted:
            continue
        stores, kinds = counted['stores'], counted['kinds']
        executed = {kind: kinds[kind][1] for kind in KINDS}
        together = max(0, stores - sum(executed.values()))
        shares = [executed['variable'], executed['stack'], executed['push'], together,
                  stores - executed['checked'], executed['checked']]
        static = sum(kinds[kind][0] for kind in KINDS)
        costs = [ratio(program, name, paired) for name in ('watch all', 'watch')]
        rows.append([program['title'], f'{stores / 1e6:,.1f}', *(percent(s, stores) for s in shares),
                     f'{static:,}', percent(static - kinds['checked'][0], static),
                     *map(show, costs)])
    if not rows:
        return None
    heads = ['', 'stores, 10^6', 'variable', 'stack', 'push, call', 'one look for several',
             'left out', 'checked', 'checks in the code', 'of them left out', 'time: all', 'eliminate']
    return Table('Elimination of checks: shares of the stores executed, small input', heads, rows)
