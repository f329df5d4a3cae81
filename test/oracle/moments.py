"""moments: what a stepped run tells of its moments, and what they must be by the text.

ticks.c has written down each instruction with its thread's cell; the binary's tables, read here by
src/format/event.h add what has happened above it.  Shares no code with the tool.
"""
import array
import bisect
import collections
import re
import struct
import subprocess

import events

TICKS = 14  # enum quipu_event
ESCAPE = 15
Moment = collections.namedtuple('Moment', 'pc ticks watched thread')


class Elf:
    """Sections and function symbols of a 64-bit executable."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.bytes = file.read()
        self.entry, _, headers = struct.unpack_from('<QQQ', self.bytes, 24)
        size, count, names = struct.unpack_from('<HHH', self.bytes, 58)
        table = [struct.unpack_from('<IIQQQQIIQQ', self.bytes, headers + i * size)
                 for i in range(count)]
        self.sections = {}
        for entry in table:
            name = self.string(table[names][4] + entry[0])
            self.sections[name] = (entry[3], entry[4], entry[5])  # address, offset, size
            if entry[1] == 2:
                self.read_symbols(entry, table[entry[6]][4])

    def string(self, offset):
        return self.bytes[offset:self.bytes.index(b'\0', offset)].decode()

    def read_symbols(self, entry, strings):
        self.symbols, self.functions = {}, []
        for at in range(entry[4], entry[4] + entry[5], 24):
            name, info, _, section, value, size = struct.unpack_from('<IBBHQQ', self.bytes, at)
            if section:
                self.symbols[self.string(strings + name)] = value
            if section and info & 15 == 2 and size:
                self.functions.append((value, size, self.string(strings + name)))
        self.functions.sort()
        self.starts = [start for start, _, _ in self.functions]

    def offset_of(self, address):
        for start, offset, size in self.sections.values():
            if start and start <= address < start + size:
                return offset + address - start
        raise ValueError(f'{address:x} is in no section')

    def function_at(self, address):
        """The function's start, size and name."""
        at = bisect.bisect(self.starts, address) - 1
        start, size, name = self.functions[at]
        return (start, size, name) if address < start + size else (address, 0, '?')


def places_of_tests(elf, code):
    """Where a countdown's test stands: a jump behind an addition, or an addition that it was put over
    (src/format/event.h)."""
    address, offset, size = elf.sections['.quipu.tests']
    rows = {address + at + struct.unpack_from('<i', elf.bytes, offset + at)[0]
            for at in range(0, size, 12)}
    return rows | {place for place, text in code.text.items() if re.match(r'jns\s', text)}


class Forms:
    """Loops that are unrolled while no trace is recorded: rows of the table of sites (format/watch.h)."""

    COPY = 0xffffffff

    def __init__(self, elf):
        self.copies = []
        address, offset, size = elf.sections.get('.quipu.sites', (0, 0, 0))
        for at in range(0, size, 16):
            place, code, target, kind = struct.unpack_from('<iiiI', elf.bytes, offset + at)
            if kind == self.COPY:
                row = address + at
                self.copies.append((row + 4 + code, row + 8 + target, row + place))

    def recorded(self, address):
        """Where the instruction at ADDRESS is in the form that is recorded."""
        for begin, end, place in self.copies:
            if begin <= address < end:
                return place + address - begin
        return address


class Tables:
    """Query increments of ticks."""

    def __init__(self, elf):
        self.elf, self.ranges, self.known = elf, [], {}
        address, offset, size = elf.sections['.quipu.ranges']
        for at in range(0, size, 16):
            start, length, table, _ = struct.unpack_from('<iIii', elf.bytes, offset + at)
            self.ranges.append((address + at + start, length, address + at + 8 + table))
        self.ranges.sort()
        self.starts = [start for start, _, _ in self.ranges]
        self.anchors = {}

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.elf.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def read_anchors(self, table):
        """By rising start: (start, sum, instructions' (place, weight))."""
        self.at = self.elf.offset_of(table)
        kinds, distance, count = struct.unpack_from('<IiI', self.elf.bytes, self.at)
        weights = self.elf.offset_of(table + 4 + distance)
        self.at += 12
        if not kinds >> TICKS & 1:
            return []
        width = bin(kinds).count('1')
        column = bin(kinds & ((1 << TICKS) - 1)).count('1')
        found = []
        for _ in range(count):
            start, = struct.unpack_from('<I', self.elf.bytes, self.at)
            self.at += 4
            sums = [(n >> 1) ^ -(n & 1) for n in (self.number() for _ in range(width))]
            place, instructions = start, []
            for _ in range(self.number()):
                byte = self.elf.bytes[self.at]
                self.at += 1
                vector = self.number() if byte >> 4 == ESCAPE else byte >> 4
                weight, = struct.unpack_from('<H', self.elf.bytes,
                                             weights + 2 * (vector * width + column))
                instructions.append((place, weight))
                place += byte & 15
            found.append((start, len(instructions) > 0, sums[column], instructions))
        return sorted(found, key=lambda anchor: anchor[:2])

    def at_address(self, address):
        if address not in self.known:
            self.known[address] = self.look_up(address)
        return self.known[address]

    def look_up(self, address):
        index = bisect.bisect(self.starts, address) - 1
        start, _, table = self.ranges[index]
        if start not in self.anchors:
            self.anchors[start] = self.read_anchors(table)
        best = None
        for anchor in self.anchors[start]:
            if anchor[0] <= address - start:
                best = anchor
        if not best:
            return 0
        return best[2] + sum(w for place, w in best[3] if place < address - start)


def step(tool, directory, watch, random=False):
    """Steps a run of the directory's program by TOOL, words.  Returns (status, output, moments)."""
    elf = Elf(f'{directory}/program')
    tables = Tables(elf)
    words = [*tool, '-o', 'recording', '--entry', f'{elf.entry:x}',
             '--hook', f'{elf.symbols["quipu_moment_thread"]:x}']
    if watch:
        words += ['--watch', f'{elf.symbols[watch]:x}']
    for start, size, _ in tables.ranges:
        words += ['--range', f'{start:x}-{start + size:x}']
    done = subprocess.run(words + ['--random'] * random + ['./program'], cwd=directory,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
                          timeout=300)
    return done.returncode, done.stdout.decode(), read_recording(f'{directory}/recording', tables)


def read_recording(path, tables):
    words = array.array('Q')
    with open(path, 'rb') as file:
        words.frombytes(file.read())
    at = tables.at_address
    return [Moment(words[i], (words[i + 1] + at(words[i])) % 2 ** 64, words[i + 2], words[i + 3])
            for i in range(0, len(words), 4)]


def find_problem(moments, code, handlers):
    """None, or what shows that these are no moments: a pair twice, or ticks that go down.  With
    HANDLERS, ticks may go down where one interrupts: it does not know what the interrupted
    instruction has above its cell."""
    seen = collections.defaultdict(set)
    last = {}
    for moment in moments:
        before = last.get(moment.thread)
        name = f'thread {moment.thread}: {moment.pc:x} ({code.text.get(moment.pc)})'
        last[moment.thread] = moment
        if before and moment.pc == before.pc and code.text.get(moment.pc, '').startswith('rep'):
            continue  # once more around
        steps = not (handlers and leaps(code, before, moment.pc))
        if before and steps and moment.ticks < before.ticks:
            return f'{name}: {before.ticks} ticks at {before.pc:x}, and then {moment.ticks}'
        if before and steps and moment.ticks > before.ticks + 1 and not can_leave(code, before.pc):
            return f'{name}: {moment.ticks - before.ticks} ticks behind {before.pc:x}'
        if (moment.pc, moment.ticks) in seen[moment.thread]:
            return f'{name}: twice with {moment.ticks} ticks'
        seen[moment.thread].add((moment.pc, moment.ticks))
    return None


def leaps(code, before, pc):
    """Whether control came by no jump, call or step: a signal came in between, or is over.  A jump
    out of what was recorded comes back behind a call."""
    if not before or pc == code.behind.get(before.pc):
        return False
    text = code.text.get(before.pc, '')
    target = re.match(r'^(?:bnd |notrack )*j\w+\s+([0-9a-f]+)', text)
    if target and int(target.group(1), 16) != pc:
        return not re.match(r'^(bnd |notrack )*call', code.text.get(code.before.get(pc), ''))
    return not re.match(r'^(bnd |notrack )*(call|j|loop)', text)


def can_leave(code, pc):
    """Whether other code may run behind this instruction."""
    return bool(re.match(r'^(bnd |notrack )*(call|ret|jmp)', code.text.get(pc, '')))


BRANCH = re.compile(r'^(bnd |notrack )*(j|loop)')
SETJMP = re.compile(r'^call.*<(_?_?(sig)?setjmp|getcontext|swapcontext|vfork)\b')
NO_RETURN = re.compile(r'^call.*<(__cxa_throw|__cxa_rethrow|_Unwind_Resume)\b')


class Twin(events.Twin):
    """One thread of the twin's run: its instructions, and in front of each the ticks that the text
    makes of it: events.Alignment takes it.

    What calls, returns and begins tick is known by the text.  Which branches do is not: any choice
    will do that leaves no cycle without a tick.  So it is learnt from the recording, and then has to
    be the same each time, to have a tick in every cycle, and none elsewhere."""

    def __init__(self, pcs, code, functions, hubs, ticking=frozenset()):
        """FUNCTIONS: (start, size, name); the pieces of one are called 'f.cold' and the like.  HUBS:
        names of those whose indirect jumps share their targets.  TICKING: branches that do, each from
        an instruction to another one."""
        self.code, self.ticking, self.hubs = code, ticking, hubs
        self.function = {}
        self.entries = {start for start, _, name in functions if '.cold' not in name}
        self.behind_calls = {code.behind.get(a): text for a, text in code.text.items()
                             if re.match(r'^(bnd |notrack )*call', text)}
        for start, size, name in functions:
            base = re.sub(r'\.cold(\.\d+)?$', '', name)
            for address in range(start, start + size):
                self.function[address] = base
        self.calling = {self.function[a] for a, text in code.text.items()
                        if a in self.function and re.match(r'^(bnd |notrack )*call', text)}
        last, ticks, sums = None, 0, []
        pcs = events.completed(pcs, code)
        for pc in pcs:
            ticks += self.ticks_between(last, pc)
            sums.append([ticks])
            last = pc
        super().__init__(pcs, code, sums + [[ticks]])

    def ticks_between(self, last, pc):
        text = self.code.text.get(last, '')
        entered = int(pc in self.entries)
        again = int(bool(SETJMP.match(self.behind_calls.get(pc, ''))))
        if re.match(r'^(bnd |notrack |rep[z]? )*ret', text) or self.is_tail(text, last, pc):
            return int(self.function[last] in self.calling) + entered + again
        if entered or again:
            return 1
        if re.match(r'^(bnd |notrack )*call', text):
            return int(pc != self.code.behind[last] or bool(NO_RETURN.match(text)))
        return int((last, pc) in self.ticking)

    def is_tail(self, text, last, pc):
        """A jump to another function, or to this one's start from outside of its graph's edges."""
        if not BRANCH.match(text):
            return False
        base = self.function[last]
        if '*' in text:
            return pc in self.behind_calls or self.function[pc] != base
        target = int(re.search(r'\s([0-9a-f]+)( <|$)', text).group(1), 16)
        taken = pc != self.code.behind[last] or re.match(r'^(bnd |notrack )*jmp', text)
        return bool(taken) and self.function.get(target) != base

    def is_edge(self, last, pc):
        """Whether control went on in the function, by a branch or to the next instruction."""
        text = self.code.text.get(last, '')
        if last is None or pc in self.entries or re.match(r'^(bnd |notrack |rep[z]? )*(ret|call)', text):
            return False
        return not self.is_tail(text, last, pc)

    def learn(self, ticks):
        """Branches that tick.  TICKS: in front of instructions of the run, where that is known, by
        their places in it."""
        deltas, places = {}, sorted(ticks)
        for low, high in zip(places, places[1:]):
            steps = list(zip(self.pcs[low:high], self.pcs[low + 1:high + 1]))
            rest = ticks[high] - ticks[low] - sum(self.ticks_between(*step) for step in steps)
            steps = [step for step in steps if self.is_edge(*step)]
            if len(steps) == 1:
                deltas[steps[0]] = rest
            elif not rest:
                deltas.update(dict.fromkeys(steps, 0))
        return frozenset(step for step, delta in deltas.items() if delta)

    def wrong_ticks(self):
        """None, or a cycle of branches without a tick, or a tick that is in no cycle."""
        taken = {step for step in zip(self.pcs, self.pcs[1:]) if self.is_edge(*step)}
        around = {(a, self.code.behind[a]) for a, text in self.code.text.items()
                  if a in self.function and self.function.get(self.code.behind.get(a)) ==
                  self.function[a] and re.match(r'^(bnd |notrack )*call', text)}
        quiet = Components((taken - self.ticking) | around)
        turn = next((step for step in taken - self.ticking if quiet.share(*step)), None)
        if turn:
            return f'{turn[0]:x} to {turn[1]:x} is in a cycle without a tick'
        cycles = Components(self.text_edges() | taken | around)
        alone = next((step for step in self.ticking
                      if not cycles.share(*step) and not cycles.share(step[0], self.hub(step[0]))),
                     None)
        return alone and f'{alone[0]:x} to {alone[1]:x} ticks, and is in no cycle'

    def hub(self, address):
        """The node in front of all targets of an indirect jump, or None: they are its own."""
        base = self.function.get(address)
        return base if base in self.hubs and '*' in self.code.text[address] else None

    def text_edges(self):
        """What the text tells: to the next instruction, direct branches, to hubs and behind them."""
        edges, hubs = set(), set()
        for last, pc in set(zip(self.pcs, self.pcs[1:])):
            if self.hub(last) and self.is_edge(last, pc):
                hubs |= {(last, self.hub(last)), (self.hub(last), pc)}
        for address, text in self.code.text.items():
            if address not in self.function:
                continue
            if not re.match(r'^(bnd |notrack |rep[z]? )*(ret|jmp)', text):
                edges.add((address, self.code.behind.get(address)))
            target = re.search(r'\s([0-9a-f]+)( <|$)', text) if BRANCH.match(text) else None
            if target and '*' not in text:
                edges.add((address, int(target.group(1), 16)))
        return hubs | {(a, b) for a, b in edges if self.function[a] == self.function.get(b)}


class Components:
    """The strongly connected components of a graph (Tarjan 1972, without recursion)."""

    def __init__(self, edges):
        self.after = {}
        for a, b in edges:
            self.after.setdefault(a, []).append(b)
        self.loops = {a for a, b in edges if a == b}
        self.of, self.low, self.number, self.stack = {}, {}, {}, []
        for node in list(self.after):
            if node not in self.number:
                self.search(node)

    def search(self, root):
        path = [(root, iter(self.after.get(root, ())))]
        self.enter(root)
        while path:
            node, rest = path[-1]
            child = next(rest, None)
            if child is None:
                path.pop()
                self.leave(node, path)
            elif child not in self.number:
                self.enter(child)
                path.append((child, iter(self.after.get(child, ()))))
            elif child not in self.of:
                self.low[node] = min(self.low[node], self.number[child])

    def enter(self, node):
        self.low[node] = self.number[node] = len(self.number)
        self.stack.append(node)

    def leave(self, node, path):
        if path:
            above = path[-1][0]
            self.low[above] = min(self.low[above], self.low[node])
        if self.low[node] == self.number[node]:
            while self.of.get(node) is None:
                self.of[self.stack.pop()] = node

    def share(self, a, b):
        """Whether an edge from A to B is in a cycle."""
        return a in self.loops if a == b else self.of.get(a, a) == self.of.get(b, b)
