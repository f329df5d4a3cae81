"""Calling context trees, of the oracle (contexts.c) and of data files, made comparable.

A tree becomes a table: way -> [calls, instructions].  A way is a sequence of (site, callee); a site
is the N-th call of a function, so that the code around it does not matter, or 'elsewhere' where
code calls that is not the test's own.  The trees of all threads of a process are added up.
"""
import re
import struct
import subprocess

CALL = re.compile(r'^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)$')
HEADER = re.compile(r'^[0-9a-f]+ <(.*)>:$')
WORD = 1 << 64


class Code:
    """One executable or shared object: its own functions and the places behind their calls."""

    def __init__(self, path, names):
        self.pieces, self.entries = [], {}
        symbols = {}
        out = subprocess.run(['nm', '-S', path], check=True, stdout=subprocess.PIPE).stdout.decode()
        for line in out.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in 'tTwW' and words[3] in names:
                symbols[words[3]] = (int(words[0], 16), int(words[1], 16))
        for name, (start, size) in symbols.items():
            whole = name.partition('.cold')[0]
            entry = symbols.get(whole, (start, 0))[0]
            self.pieces.append((start, start + size, entry))
            if name == whole:
                self.entries[start] = min(name, self.entries.get(start, name))
        self.sites = find_sites(path, symbols)

    def words(self):
        """As contexts.c wants them."""
        return [f'{start:x}-{end:x}={entry:x}' for start, end, entry in self.pieces]


def find_sites(path, symbols):
    """Address behind each call of the functions -> 'function call N'."""
    sites, function, number = {}, None, 0
    out = subprocess.run(['objdump', '-dw', path], check=True, stdout=subprocess.PIPE).stdout
    for line in out.decode('utf-8', 'replace').splitlines():
        header = HEADER.match(line)
        if header:
            function, number = header.group(1), 0
            continue
        call = CALL.match(line)
        if not call or function not in symbols or not re.search(r'\bcall', call.group(3)) or \
                '<quipu_' in call.group(3):
            continue
        behind = int(call.group(1), 16) + len(call.group(2).split())
        sites[behind] = f'{function} call {number}'
        number += 1
    return sites


class Image:
    """The objects of a process, where they ran."""

    def __init__(self, objects):
        self.objects = objects  # (Code, bias)

    def site(self, address):
        for code, bias in self.objects:
            if address - bias in code.sites:
                return code.sites[address - bias]
        return 'elsewhere'

    def callee(self, address):
        for code, bias in self.objects:
            if address - bias in code.entries:
                return code.entries[address - bias]
        return f'{address:x}'

    def table(self, nodes):
        """NODES: key -> (parent's key or None, site, callee, calls, instructions)."""
        ways, table = {None: None}, {}

        def way(key):
            if key not in ways:
                parent, site, callee = nodes[key][:3]
                here = ((self.site(site), self.callee(callee)),) if parent is not None else ()
                ways[key] = (way(parent) or ()) + here
            return ways[key]
        for key, node in nodes.items():
            entry = table.setdefault(way(key), [0, 0])
            entry[0] += node[3] if node[0] is not None else 0
            entry[1] += node[4]
        return {way: entry for way, entry in table.items() if entry != [0, 0]}


def read_oracle(path, codes):
    """Tables of all processes.  CODES: path of an object -> Code."""
    tables, objects, nodes = [], [], {}
    for line in open(path, encoding='ascii').read().splitlines() + ['process end']:
        words = line.split()
        if words[0] == 'process':
            if nodes:
                tables.append(Image(objects).table(nodes))
            objects, nodes = [], {}
        elif words[0] == 'object':
            objects.append((codes[words[1]], int(words[2], 16)))
        else:
            number, parent = int(words[1]), int(words[2])
            nodes[number] = (parent or None, int(words[3], 16), int(words[4], 16), int(words[5]),
                             int(words[6]))
    return tables


def read_data(path, codes):
    """(time of its beginning, table, problems) of one process."""
    with open(path, 'rb') as file:
        data = file.read()
    size, = struct.unpack_from('<Q', data, 16)
    time, = struct.unpack_from('<Q', data, 56)
    objects, nodes, problems, at, nows = [], {}, [], 4096, {}
    while at < size:
        kind, _, length = struct.unpack_from('<IIQ', data, at)
        if kind == 1:
            bias, = struct.unpack_from('<Q', data, at + 32)
            name = data[at + 80:at + 4096].split(b'\0')[0].decode()
            if name in codes:
                objects.append((codes[name], bias))
        elif kind == 3:
            read_chunk(data, at, nodes, nows, problems)
        at += length
    return time, Image(objects).table(nodes), problems


def read_chunk(data, at, nodes, nows, problems):
    _, count, _, flags, thread, first, base, cell = struct.unpack_from('<IIIIQQQQ', data, at + 16)
    if first == 0:
        nows[thread] = base + (sum(struct.unpack_from('<4Q', data, cell)) if cell else 0)
    if flags:
        problems.append(f'tree {thread} has the flags {flags}')
    for i in range(count):
        parent, _, site, callee, calls, instructions = \
            struct.unpack_from('<IIQQQq', data, at + 64 + 64 * i)
        if instructions < 0:
            instructions += nows[thread]
        if instructions % WORD > 1 << 48:
            problems.append(f'tree {thread}: {instructions % WORD} instructions of {callee:x}')
        key = (thread, first + i + 1)
        nodes[key] = ((thread, parent) if parent else None, site, callee, calls,
                      instructions % WORD)


def read_json(export, codes):
    """(table, callsites) of what 'quipu export --to=json' tells; see calls_of."""
    calls, table, sites, ways = export['calls'], {}, {}, []
    objects = [codes.get(module['path']) for module in export['modules']]

    def name(place, kind, default):
        code = objects[place['module']] if place and place['module'] is not None else None
        return getattr(code, kind).get(place['address'], default) if code else default

    def site(index):
        return name(None if index is None else calls['sites'][index], 'sites', 'elsewhere')

    def function(index):
        place = None if index is None else calls['functions'][index]
        return name(place, 'entries', place and f"{place['address']:x}")
    table[()] = [0, calls['instructions']]
    for node in calls['tree']:
        above = () if node['parent'] is None else ways[node['parent']]
        ways.append(above + ((site(node['site']), function(node['function'])),))
        entry = table.setdefault(ways[-1], [0, 0])
        entry[0] += node['calls']
        entry[1] += node['inclusive']
    for call in calls['callsites']:
        if site(call['site']) != 'elsewhere':
            sites[site(call['site']), function(call['callee'])] = [call['calls'],
                                                                   call['instructions']]
    return {way: entry for way, entry in table.items() if entry != [0, 0]}, sites


def calls_of(table, key):
    """By KEY of the last step of each way: [calls, instructions with all that was called].  What is
    within another call of that key is counted with that one."""
    sums = {}
    for way, (calls, instructions) in table.items():
        if not way:
            continue
        entry = sums.setdefault(key(way[-1]), [0, 0])
        entry[0] += calls
        if key(way[-1]) not in [key(step) for step in way[:-1]]:
            entry[1] += instructions
    return {name: entry for name, entry in sums.items() if entry != [0, 0]}


def differences(twin, ours):
    """What is not the same, as lines."""
    lines = []
    for way in sorted(set(twin) | set(ours)):
        expected, found = twin.get(way, [0, 0]), ours.get(way, [0, 0])
        if expected != found:
            steps = ' > '.join(f'({site}) {callee}' for site, callee in way) or 'all'
            lines.append(f'{steps}: {expected[0]} calls, {expected[1]} instructions; '
                         f'counted {found[0]}, {found[1]}')
    return lines
