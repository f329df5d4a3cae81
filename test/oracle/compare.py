"""Compares the counts of `quipu report` with those of the single-step oracle.

The oracle ran the twin (--quipu=none); its counts are by address of the twin's instructions.  The
report is of the instrumented binary.  Both are brought to (function, ordinal, offset in the
function) and must agree in every instruction of every function, executed or not: same offsets, so
same code; same kind of mnemonic; same count.

Functions of one name (static ones of several units) are paired by the order of their addresses.
Where it is not perfect: functions of one name in an executable and in a shared object are told
apart only where the report names the module.
"""
import bisect
import functools
import os
import re
import struct
import subprocess

# Functions that the C library's start files bring into every link.
START_FILES = {'_start', '_init', '_fini', 'deregister_tm_clones', 'register_tm_clones',
               '__do_global_dtors_aux', 'frame_dummy', '_dl_relocate_static_pie'}
PREFIXES = {'rep', 'repz', 'repnz', 'repe', 'repne', 'lock', 'bnd', 'notrack', 'data16', 'cs', 'ds',
            'es', 'ss', 'fs', 'gs', 'addr32', 'rex', 'rex.W', 'xacquire', 'xrelease', '{evex}'}
REPEATED = re.compile(r'^(?:rep|repz|repnz|repe|repne)\s+(?:movs|stos|lods|cmps|scas|ins|outs)')


class Function:
    """Instructions as (offset, mnemonic, count), in the order of the text."""

    def __init__(self, names, instructions):
        self.names = names
        self.instructions = instructions


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode('utf-8',
                                                                                     'replace')


@functools.lru_cache(maxsize=None)
def function_symbols(path):
    """(address, size) -> names of the functions that PATH defines."""
    symbols = {}
    for line in output('readelf', '-sW', path).splitlines():
        field = line.split()
        if len(field) >= 8 and field[3] in ('FUNC', 'IFUNC') and field[6] != 'UND':
            place = (int(field[1], 16), int(field[2], 0), field[6])
            symbols.setdefault(place, set()).add(field[7].split('@')[0])
    return symbols


def is_linked(path):
    """Whether PATH is an ELF executable or shared object (e_type 2 or 3)."""
    with open(path, 'rb') as file:
        head = file.read(18)
    return head[:4] == b'\x7fELF' and head[16] in (2, 3)


def span(path, names):
    """The lowest and the highest address of the functions NAMES in PATH; where the C library is
    not in it, of all functions that are not the start files'."""
    symbols = function_symbols(path).items()
    static = any('__libc_start_main' in called for _, called in symbols)
    places = [(address, address + size) for (address, size, _), called in symbols
              if size and (called & names if static else not called & START_FILES)]
    return min(start for start, _ in places), max(end for _, end in places)


def mnemonic(text):
    words = [word for word in text.split() if word not in PREFIXES and
             not word.startswith('rex')]
    return words[0] if words else text.strip()


@functools.lru_cache(maxsize=None)
def disassemble(path):
    """[(address, text)] of all code sections."""
    found = []
    for line in output('objdump', '-d', '-w', '--no-show-raw-insn', path).splitlines():
        match = re.match(r'^\s*([0-9a-f]+):\s+(.+)$', line)
        if match:
            found.append((int(match.group(1), 16), match.group(2)))
    return sorted(found)


def twin_functions(path, counts, iterations=False):
    """The functions of the twin binary at PATH, by address, with the oracle's COUNTS.  ITERATIONS:
    those of repeated string instructions are of their iterations, so they are None here."""
    code = disassemble(path)
    addresses = [at for at, _ in code]
    found, symbols = [], sorted(function_symbols(path).items())
    cold = {name[:-len('.cold')]: address for (address, _, _), names in symbols
            for name in names if name.endswith('.cold')}
    for (address, size, _), names in symbols:
        within = cold.get(min(names), 0) - address
        if 0 < within < size:  # f.cold stands in the same section, and f's size goes on to its end
            size = within
        first = bisect.bisect_left(addresses, address)
        last = bisect.bisect_left(addresses, address + size)
        if size:
            found.append(Function(names, [
                (at - address, mnemonic(text),
                 None if iterations and REPEATED.match(text) else counts.get(at, 0))
                for at, text in code[first:last]]))
    return found


def read_oracle(path):
    """[(program, {object path: {address: count}})] of each process image."""
    processes = []
    with open(path, encoding='utf-8') as file:
        for line in file:
            word = line.rstrip('\n').split(' ')
            if word[0] == 'process':
                processes.append((' '.join(word[3:]), {}))
            elif word[0] == 'object':
                counts = processes[-1][1].setdefault(' '.join(word[1:]), {})
            else:
                counts[int(word[0], 16)] = int(word[1])
    return [process for process in processes if any(process[1].values())]


def data_files(directory):
    """The data files of a run, oldest first (start_time is at byte 56)."""
    found = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        with open(path, 'rb') as file:
            head = file.read(64)
        if name.endswith('.quipu') and len(head) == 64:
            found.append((struct.unpack_from('<Q', head, 56)[0], path))
    return [path for _, path in sorted(found)]


def report_functions(report):
    """The functions of `quipu report --by=instruction --format=json`, in its order.  A further
    fragment (f.cold) is a function of its own, as its symbol is."""
    found, ordinal = [], 0
    for row in report['instructions']:
        name = row.get('fragment') or row['function']
        if row['index'] == 0 or name not in found[-1].names:
            found.append(Function({name}, []))
        ordinal = 0 if row['index'] == 0 else ordinal + 1
        if row['index'] != ordinal:
            raise ValueError(f"'{name}': index {row['index']} where {ordinal} was due")
        found[-1].instructions.append((row['offset'], mnemonic(row['text']), row['count']))
    return found


def same_kind(twin, ours):
    """Disassemblers differ in suffixes and synonyms; the first letter they share."""
    return twin[0] == ours[0] or {twin, ours} <= {'xchg', 'nop', 'data16'} or \
        {twin[0], ours[0]} in ({'c', 'l'}, {'w', 'f'})


def compare_function(twin, ours):
    """Differences between two functions, a line each."""
    name = '/'.join(sorted(twin.names))
    lines = []
    if len(twin.instructions) != len(ours.instructions):
        lines.append(f"'{name}': {len(twin.instructions)} instructions in the twin, "
                     f"{len(ours.instructions)} in the report")
    for index, (a, b) in enumerate(zip(twin.instructions, ours.instructions)):
        if a[0] != b[0] or not same_kind(a[1], b[1]):
            lines.append(f"'{name}'[{index}]: {a[1]} at +{a[0]:#x} in the twin, {b[1]} at "
                         f"+{b[0]:#x} in the report")
        if a[0] != b[0]:
            break
        if a[2] is not None and a[2] != b[2]:
            lines.append(f"'{name}'[{index}] {a[1]} at +{a[0]:#x}: oracle {a[2]}, quipu {b[2]}")
    return lines


def compare(twins, report, expected, left_alone):
    """Differences between the twin's functions and the report's.  EXPECTED: names of the functions
    that must be in the report; LEFT_ALONE: those of them that must not."""
    lines, left = [], report_functions(report)
    missing, by_name = set(), {}
    for function in left:
        by_name.setdefault(min(function.names), []).append(function)
    for twin in twins:
        ours = next((by_name[name] for name in sorted(twin.names) if by_name.get(name)), None)
        if ours:
            ours = ours.pop(0)
            left.remove(ours)
            lines += compare_function(twin, ours)
        elif twin.names <= set(by_name) and all('.' in name for name in twin.names):
            continue  # a clone of this name was in the report: this one is a static library's
        elif twin.names & expected:
            missing.add(min(twin.names & left_alone or twin.names))
    lines += [f"'{name}': not in the report" for name in sorted(missing - left_alone)]
    lines += [f"'{sorted(f.names)[0]}': in the report, not in the twin" for f in left]
    present = {name for twin in twins for name in twin.names} & left_alone
    lines += [f"'{name}': in the report, was to be left alone" for name in sorted(present - missing)]
    return lines


def read_callgrind(path):
    """{object path: {address: executions}} from an uncompressed callgrind.out with addresses."""
    found, inclusive, at = {}, False, {}
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            if line.startswith('ob='):
                at = found.setdefault(line[3:].strip(), {})
            elif line.startswith('calls='):
                inclusive = True
            elif line.startswith('0x'):
                if not inclusive:
                    word = line.split()
                    at[int(word[0], 16)] = at.get(int(word[0], 16), 0) + int(word[2])
                inclusive = False
    return found


def compare_callgrind(binary, names, oracle, callgrind):
    """Differences between two counts of one binary, in the functions NAMES, by address.  Repeated
    string instructions are left out: callgrind counts their iterations."""
    lines = []
    ranges = [(address, address + size)
              for (address, size, _), called in function_symbols(binary).items() if called & names]
    for address, text in disassemble(binary):
        counted = any(start <= address < end for start, end in ranges)
        if counted and not REPEATED.match(text) and \
                oracle.get(address, 0) != callgrind.get(address, 0):
            lines.append(f'{address:x} {text}: oracle {oracle.get(address, 0)}, callgrind '
                         f'{callgrind.get(address, 0)}')
    return lines
