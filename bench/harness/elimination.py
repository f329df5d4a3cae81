"""A table like table 2 of the paper: R. Wahbe, S. Lucco and S. L. Graham, "Practical Data Breakpoints:
Design and Implementation", PLDI 1993: which checks of stores are left out until a region needs them.

Counted, not measured: on the small input, in builds that count each instruction beside the checks.
The section .quipu.sites tells where checks are and of which kind (src/format/watch.h); a check
is executed as often as the original instruction that follows it.  Such builds have no copies of
loops, but tell which checks are in a loop that would have one: of addresses that are told in front of
the loop, invariant or monotonic, and of others, which go unchecked only while nothing is watched.  All stores, push and call among
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

KINDS = ('variable', 'stack', 'push', 'checked', 'unarmed', 'invariant', 'monotonic')  # 'push': and call
OF_CHECKS = ('checked', 'unarmed', 'invariant', 'monotonic')  # enum quipu_check_kind
LOOPS = OF_CHECKS[1:]
SITE_FRAME_CALL, SITE_BEGIN, SITE_CHECK = 0xffffffef, 0xfffffff1, 0xfffffff7


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
    """(place, kind) of each check; kind is one of KINDS, but 'push', which is in 'stack'."""
    address, data = read_section(path, '.quipu.sites')
    for offset in range(0, len(data), 16):
        place, _, target, size = struct.unpack_from('<iiiI', data, offset)
        if size == SITE_CHECK:
            yield address + offset + place, OF_CHECKS[target]
        elif size < SITE_BEGIN and place:
            of_variable = target and size < SITE_FRAME_CALL
            yield address + offset + place, 'variable' if of_variable else 'stack'


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
        looked = executed['checked'] + executed['unarmed']
        shares = [executed['variable'], executed['stack'], executed['push'], together,
                  executed['invariant'], executed['monotonic'], stores - looked, looked,
                  executed['unarmed']]
        static = sum(kinds[kind][0] for kind in KINDS)
        kept = sum(kinds[kind][0] for kind in OF_CHECKS)
        costs = [ratio(program, name, paired) for name in ('watch all', 'watch')]
        rows.append([program['title'], f'{stores / 1e6:,.1f}', *(percent(s, stores) for s in shares),
                     f'{static:,}', percent(static - kept, static), f'{sum(kinds[kind][0] for kind in LOOPS):,}',
                     *map(show, costs)])
    if not rows:
        return None
    heads = ['', 'stores, 10^6', 'variable', 'stack', 'push, call', 'one look for several',
             'invariant', 'monotonic', 'left out', 'checked', 'of them only when armed',
             'checks in the code', 'of them left out', 'in loops with a copy', 'time: all',
             'eliminate']
    return Table('Elimination of checks: shares of the stores executed, small input', heads, rows)
