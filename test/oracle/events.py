"""events: how many events a run has had at any stop, told by its twin.

The twin and the instrumented program run the same instructions of the original in the same order;
the latter has inserted ones between.  Each address of the instrumented program is either that of
one instruction of the twin, always the same, or inserted: so the stops of both, which query.c wrote,
are aligned by the disassembler's text, and what the twin had executed up to a stop is counted by
that text alone.  Shares no code with the tool.

What cannot be known: of two jumps in a row where the twin has one, which is the program's own; and
where no-operations that pad stand between two instructions, whether they have been executed at
inserted code between.  There both answers are right, but always the same one.
"""
import bisect
import collections
import itertools
import re
import subprocess

from widths import memory_width

BRANCH = re.compile(r'^(?:bnd |notrack )?(j[a-z]+|loop[a-z]*)\s')
JUMP = re.compile(r'^(?:bnd )?jmp\s+[0-9a-f]')
NOP = re.compile(r'^(?:data16 |cs |xchg\s+%ax,%ax$|nop|lea\s+0x0\(%[a-z]+(?:,%[a-z]iz,1)?\),%[a-z]+$)')
INVERSE = {'jne': 'je', 'jae': 'jb', 'ja': 'jbe', 'jns': 'js', 'jnp': 'jp', 'jge': 'jl',
           'jg': 'jle', 'jno': 'jo'}
NUMBERS = {'instructions': 0, 'blocks': 1, 'branches': 2, 'branches-taken': 3,
           'branches-not-taken': 4, 'calls': 5, 'returns': 6, 'loads': 7, 'stores': 8,
           'floating-point': 11, 'vector': 12, 'atomic': 13, 'bytes-loaded': 9,
           'bytes-stored': 10,
           'returned=ret': 16, 'conditional=j[!m]*|loop*': 17}  # classes that must count as the kinds do
KINDS = list(NUMBERS)
REPEATS = re.compile(r'^rep\w*\s+(movs|stos|lods|cmps|scas)')
PREFIX = re.compile(r'^(?:(?:lock|rep\w*|bnd|notrack|data16|cs|ds|addr32)\s+)+')
UNTOUCHED = re.compile(r'^(?:lea[wlq]?|nop.*|prefetch.*|endbr.*)$')
LOAD_ONLY = re.compile(r'^(?:cmp[bwlq]?$|v?cmp\w*[sp][sd]|test|v?ucomi|v?comi|bt[wlq]?$|push|call|v?ptest|mul|imul|div|idiv|'
                       r'fld|fild|fu?comi?|f(?:add|sub|mul|div)r?[sl]?$|fi(?:add|sub|mul|div))')
STORE_ONLY = re.compile(r'^(?:mov|set|vmov|pop|cvt.*|stos|fst|fist|fnst|stmx|v?extract|v?pextr)')
# What computes in floating point: the arithmetic of SSE and AVX, conversions, the x87's arithmetic.
FLOATING = re.compile(
    r'^(?:v?(?:add|sub|mul|div|sqrt|min|max|rcp|rsqrt|round|dp|hadd|hsub|addsub|cmp[a-z]*|u?comi|'
    r'fn?m(?:add|sub|addsub|subadd)[0-9]*)[sp][sd]|v?cvt[a-z0-9]+|'
    r'fi?(?:add|sub|mul|div)[a-z]*|fu?com(?:i|p|pp|pi|ip)?|ficomp?|fsqrt|fabs|fchs|fprem1?|frndint|fscale|'
    r'fild[a-z]*|fist[a-z]*|fsin|fcos|fsincos|fptan|fpatan|f2xm1|fyl2x(?:p1)?|ftst|fxam)$')
# Elements side by side: packed numbers, and moves and logic of whole registers.
VECTOR = re.compile(r'^v?(?:\w+p[sd]|p\w+|cvt\w*(?:pd|ps|dq|pi)\w*|movdq\w+|movntdqa?|lddqu|'
                    r'broadcast\w+|extract[fi]\w+|insert[fi]\w+|mov(?:hl|lh)ps|movs[hl]dup|movddup)$')
ELEMENT = re.compile(r'^v?(?:cvtt?s[sdi]2|pinsr|pextr|insertps|extractps|mov[lh]pd)')  # one of them
VECTOR_REGISTER = re.compile(r'%[xyz]?mm[0-9]')



class Disassembly:
    """Instructions of a binary by address: text, the neighbours.  ALIGNED: the compiler aligns code
    in functions; elsewhere a no-operation is one of the program's."""

    def __init__(self, path, aligned=True):
        self.text, self.behind, self.before = {}, {}, {}
        out = subprocess.run(['objdump', '-d', '--no-show-raw-insn', '-w', path], check=True,
                             stdout=subprocess.PIPE).stdout.decode('utf-8', 'replace')
        last = None
        for line in out.splitlines():
            match = re.match(r'^\s*([0-9a-f]+):\t(.*)$', line)
            if not match:
                continue
            address = int(match.group(1), 16)
            self.text[address] = match.group(2).strip()
            if last is not None:
                self.behind[last] = address
                self.before[address] = last
            last = address
        self.padding = {pc for pc, text in self.text.items() if aligned and NOP.match(text)}


def masked(text):
    """The text without what differs between two links of the same code."""
    text = text.split('#')[0].strip()
    branch = BRANCH.match(text)
    if branch:
        word = branch.group(1)
        indirect = '*' in text
        return text if indirect and '0x' not in text else INVERSE.get(word, word) + (
            ' *' + text.split('*')[1].split('(')[-1] if indirect else '')
    text = re.sub(r'^(call\s+)[0-9a-f]+ <([^+>]*).*', r'\1\2', text)
    text = re.sub(r'-?0x[0-9a-f]+\(%rip\)', 'R(%rip)', text)
    return re.sub(r'0x[0-9a-f]{6,}', 'A', text)


class Weights:
    """What an instruction weighs in each kind, by its text."""

    def __init__(self, text):
        text = text.split('#')[0].strip()
        self.atomic = int(text.startswith('lock ') or
                          bool(re.match(r'^xchg\w*\s.*\(', text)))
        text = PREFIX.sub('', text)
        word = text.split()[0]
        self.call = int(word.startswith('call'))
        self.ret = int(word.startswith('ret'))
        self.branch = int(bool(BRANCH.match(text)) and not word.startswith('jmp'))
        operands = text[len(word):].strip()
        self.loads, self.stores = self.memory(word, operands)
        self.floating = int(bool(FLOATING.match(word)))
        self.vector = int(bool(VECTOR.match(word) and not ELEMENT.match(word) and
                               VECTOR_REGISTER.search(operands)))
        width = memory_width(word, operands) if self.loads or self.stores else 0
        self.bytes = [self.loads * width, self.stores * width]

    def columns(self, leads, follows, turns):
        """By KINDS; the block's first instruction LEADS, and the next one in the text FOLLOWS; what it
        does to memory is done TURNS times."""
        return [1, int(leads), self.branch, self.branch * (not follows), self.branch * follows,
                self.call, self.ret, *self.turn(turns)[7:9], self.floating, self.vector,
                self.atomic, *self.turn(turns)[12:14], self.ret, self.branch]

    def turn(self, turns):
        """What so many turns alone are, by KINDS."""
        return [0] * 7 + [self.loads * turns, self.stores * turns, 0, 0, 0,
                          *(each * turns for each in self.bytes), 0, 0]

    def memory(self, word, operands):
        """Loads and stores, of operands that are not written down too."""
        loads = stores = 0
        if UNTOUCHED.match(word):
            return 0, 0
        both = operands.count('(') == 2  # string instructions; with segments up to binutils 2.44
        if word.startswith('movs') and both:
            return 1, 1
        if word.startswith('cmps') and both:
            return 2, 0
        if word.startswith(('push', 'call')):
            stores += 1
        if word.startswith(('pop', 'ret', 'leave')):
            loads += 1
        parts = re.split(r',(?![^(]*\))', operands) if operands else []
        for index, part in enumerate(parts):
            if '(' not in part.replace('%st(', '') and not re.match(r'^\*?(%[a-z]s:)?-?0x[0-9a-f]+$', part):
                continue
            if BRANCH.match(word + ' ') and '*' not in part or word.startswith('call') and '*' not in part:
                continue
            last = index == len(parts) - 1
            if not last or LOAD_ONLY.match(word) or (word.startswith('j') and '*' in part):
                loads += 1
            elif STORE_ONLY.match(word):
                stores += 1
            else:
                loads += 1
                stores += 1
            if word.startswith('xchg') and not last:
                stores += 1
        return loads, stores


def read_stops(path):
    """Stops by thread: (kind, pc, counts, %rcx).  Kinds: 's', a step; 'q', it was asked for the counts;
    'i', it gets a signal."""
    threads = collections.defaultdict(list)
    with open(path, encoding='ascii') as file:
        for line in file:
            words = line.split()
            entry = (words[0], int(words[2], 16), [int(w) for w in words[4:]], int(words[3], 16))
            threads[int(words[1])].append(entry)
    return threads


class Twin:
    """One thread of the twin's run: its instructions, and the sums in front of each.  STARTS: what %rcx
    was in front of it."""

    def __init__(self, pcs, code, sums, starts=None):
        self.pcs, self.code, self.sums, self.starts = pcs, code, sums, starts
        # without padding, which other code has otherwise: addresses, and their places in the run
        self.places = [n for n, pc in enumerate(self.pcs) if pc not in code.padding]
        self.solid = [self.pcs[n] for n in self.places]

    def span(self, done):
        """Places in the run where DONE instructions that are no padding have been executed: the
        least and the most."""
        return (self.places[done - 1] + 1 if done else 0,
                self.places[done] if done < len(self.places) else len(self.pcs))


def weigh(stops, code, starts):
    """The twin that made STOPS, with sums of all KINDS."""
    begins = [n for n, stop in enumerate(stops)
              if n == 0 or not is_again(stop[1], stops[n - 1][1], code)]
    pcs = [stops[n][1] for n in begins]
    counters = [stops[n][3] for n in begins]
    leaders = find_leaders(pcs, code, starts)
    cache, rows = {}, []
    for n, (pc, behind) in enumerate(itertools.zip_longest(pcs, pcs[1:])):
        turns = 1
        if REPEATS.match(code.text[pc]):
            turns = counters[n] - (counters[n + 1] if behind else 0)
        key = (pc, behind == code.behind.get(pc), turns)
        if key not in cache:
            cache[key] = Weights(code.text[pc]).columns(pc in leaders, *key[1:])
        rows.append(cache[key])
    sums = [[0] * len(KINDS)]
    sums += zip(*(itertools.accumulate(column) for column in zip(*rows)))
    return Twin(pcs, code, sums, counters)


def is_again(pc, last, code):
    """A repeated instruction stops at each turn, and is one."""
    return pc == last and code.text[pc].startswith('rep')


def completed(pcs, code):
    """The instructions that the stops are of."""
    return [pc for n, pc in enumerate(pcs) if n == 0 or not is_again(pc, pcs[n - 1], code)]


def find_leaders(pcs, code, starts):
    """First instructions of basic blocks: targets of jumps and what follows jumps and calls.
    Padding is no block."""
    leaders = set(starts)
    for address, text in code.text.items():
        match = BRANCH.match(text)
        if match and '*' not in text:
            leaders.add(int(text.split()[-2] if '<' in text else text.split()[-1], 16))
        if match or text.startswith(('call', 'ret', 'bnd call', 'syscall', 'int ')):
            leaders.add(code.behind.get(address))
    for index, pc in enumerate(pcs[:-1]):
        if '*' in code.text[pc]:
            leaders.add(pcs[index + 1])
    while True:
        padded = leaders & code.padding
        if not padded:
            return leaders
        leaders = (leaders - padded) | {code.behind.get(a) for a in padded}


class Inserted:
    """What the text alone shows to be inserted code: by address."""
    BEFORE = [r'lahf', r'seto\s', r'pushf', r'push\s+%r(ax|11)$', r'lea\s+-0x80\(%rsp\),%rsp',
              r'mov\s+%rax,%r', r'jns\s']
    BEHIND = [r'add\s+\$0x7f,%al', r'sahf', r'popf', r'pop\s+%r(ax|11)$', r'mov\s+%r\w+,%rax$',
              r'(lea\s+0x80\(%rsp\)|sub\s+\$0xffffffffffffff80),%rsp',
              r'jns\s']
    SIGNAL = [r'push\s+%rax', r'lea\s+0x10\(%rsp\),%rax', r'cmp\s+%rax,%rdx', r'pop\s+%rax', r'jne?\s',
              r'call.*<quipu_signal_entry']

    def __init__(self, code):
        self.code, self.found = code, set()
        for address, text in code.text.items():
            if '%gs:' in text:
                self.found.add(address)
                by_register = re.search(r'%gs:(?:0x0)?\((%r\w+)\)', text)
                behind = code.behind.get(address)
                is_test = code.text.get(behind, '').startswith('js ') # of a countdown, out of line
                if by_register and not is_test: # which has been made to lead to the cell
                    self.pointer(code.before[address], by_register[1])
                if code.text.get(behind, '').startswith('jns'): # the countdown's test
                    self.found.add(behind)
                self.around(address)
            elif text.startswith('cmpb') and '%fs:' in text:
                self.found |= {address, code.behind[address]}
            elif re.match(r'call.*<quipu_attach', text):
                self.attach(address)
            elif re.match(self.SIGNAL[-1], text):
                self.signal(address)

    def pointer(self, address, register):
        if not re.match(r'lea\s+\S+\(%rip\),' + register, self.code.text[address]):
            raise ValueError(f'{address:x}: {self.code.text[address]}: not as inserted')
        self.found.add(address)

    def around(self, address):
        """Flags and registers are kept only where flags are: lahf or pushf stands in front."""
        before, at = [], self.code.before.get(address)
        while at and ('%gs:' in self.code.text[at] or self.is_any(self.BEFORE, at)):
            before.append(at)
            at = self.code.before.get(at)
        if not any(self.code.text[at].startswith(('lahf', 'pushf')) for at in before):
            return
        self.found |= set(self.cut(before, address))
        at = self.code.behind.get(address)
        while at and ('%gs:' in self.code.text[at] or self.is_any(self.BEHIND, at)):
            self.found.add(at)
            last = self.code.text[at]
            at = self.code.behind.get(at)
            if last.startswith(('lea', 'sub', 'mov')) or \
                    last.startswith(('sahf', 'popf')) and not self.is_any(self.BEHIND[3:], at):
                break

    def is_put_back(self, at, address):
        """Whether the move of %rax at AT, in front of flags that are kept, is turned round behind them;
        else it is the program's own.  ADDRESS is between."""
        register = re.match(r'mov\s+%rax,(%r\w+)$', self.code.text[at])
        while register and address and not self.code.text[address].startswith('sahf'):
            address = self.code.behind.get(address)
        behind = self.code.text.get(self.code.behind.get(address), '')
        return not register or re.match(r'mov\s+' + register[1] + r',%rax$', behind)

    def cut(self, before, address):
        """What belongs to it of the instructions in front, the nearest first: up to lahf, and what
        made room for it."""
        kept = []
        for n, at in enumerate(before):
            kept.append(at)
            if self.code.text[at].startswith(('lahf', 'pushf')):
                rest = before[n + 1:]
                if rest and self.code.text[rest[0]].startswith(('mov', 'lea')):
                    kept += rest[:1] if self.is_put_back(rest[0], address) else []
                elif rest and self.code.text[rest[0]].startswith('push'):
                    kept += [r for r in rest[:3] if self.code.text[r].startswith(('push', 'lea'))]
                break
        return kept

    def is_any(self, patterns, at):
        return any(re.match(pattern, self.code.text.get(at, '')) for pattern in patterns)

    def attach(self, address):
        self.found.add(address)
        before, behind = self.code.before[address], self.code.behind[address]
        if 'lea' in self.code.text[before] and '(%rsp),%rsp' in self.code.text[before]:
            self.found |= {before, behind}
            behind = self.code.behind[behind]
        self.found.add(behind)

    def signal(self, address):
        at = address
        for pattern in reversed(self.SIGNAL):
            if not re.match(pattern, self.code.text[at]):
                raise ValueError(f'{at:x}: {self.code.text[at]}: not as inserted')
            self.found.add(at)
            at = self.code.before[at]


class Alignment:
    """The instrumented run's stops along the twin's instructions."""

    def __init__(self, twin, stops, code, names=KINDS):
        self.names = names
        self.twin, self.stops, self.code = twin, stops, code
        self.inserted = Inserted(code).found
        self.checked = self.middles = 0 # of these, between two turns
        self.problems = []
        self.offsets = {}
        # instructions that count: numbers of stops, addresses, and what each is of the twin
        self.numbers, self.pcs, last = [], [], None
        for number, (kind, pc, *_) in enumerate(stops):
            if kind != 's':
                continue
            again = is_again(pc, last, code)
            last = pc
            if not again and pc not in self.inserted and pc not in code.padding:
                self.numbers.append(number)
                self.pcs.append(pc)
        self.places = []
        self.align()

    def align(self):
        """Depth first: only a jump may be the program's own or inserted."""
        twin, code = self.twin, self.code
        theirs = {pc: masked(text) for pc, text in twin.code.text.items()}
        ours = {pc: masked(code.text[pc]) for pc in set(self.pcs)}
        of, trail, choices, places = {}, [], [], []
        done, furthest = 0, (-1, 0)
        while len(places) < len(self.pcs) or done < len(twin.solid):
            pc = self.pcs[len(places)] if len(places) < len(self.pcs) else None
            wanted = twin.solid[done] if done < len(twin.solid) else None
            fits = pc is not None and wanted is not None and ours[pc] == theirs[wanted]
            jump = pc is not None and JUMP.match(code.text[pc])
            if pc is not None and pc not in of and (fits or jump):
                if fits and jump:
                    choices.append((len(places), done, len(trail)))
                of[pc] = wanted if fits else 0
                trail.append(pc)
            if pc in of and of[pc] == wanted:
                places.append(done)
                done += 1
            elif pc in of and of[pc] == 0:
                places.append(None)
            else:
                furthest = max(furthest, (len(places), done))
                if not choices:
                    self.fail(*furthest)
                    return
                length, done, kept = choices.pop()
                for assigned in trail[kept:]:
                    del of[assigned]
                del trail[kept:], places[length:]
                of[self.pcs[length]] = 0
                trail.append(self.pcs[length])
        self.places = places
        self.done = [0]
        for place in places:
            self.done.append(self.done[-1] if place is None else place + 1)

    def fail(self, length, done):
        pc = self.pcs[length] if length < len(self.pcs) else 0
        wanted = self.twin.solid[done] if done < len(self.twin.solid) else 0
        self.problems.append(
            f'instruction {done} of the twin is {wanted:x} ({self.twin.code.text.get(wanted)}), but '
            f'{pc:x} ({self.code.text.get(pc)}) was executed')

    def position(self, number):
        """Where the twin was at stop NUMBER: the least and the most of its places."""
        pc = self.stops[number][1]
        at = bisect.bisect_left(self.numbers, number)
        if at and pc == self.pcs[at - 1] and self.code.text[pc].startswith('rep') and \
                self.next_step(number) == pc:
            at -= 1 # it is in the middle of its turns
        low, high = self.twin.span(self.done[at])
        if at < len(self.pcs) and self.next_step(number) == pc == self.pcs[at] and \
                self.places[at] is not None:
            low = high # this one is about to run
        elif pc not in self.code.text or self.next_step(number) != pc:
            high = low # in a function that was called
        return self.widen(at, low, high)

    def next_step(self, number):
        for kind, pc, *_ in self.stops[number + 1:]:
            if kind == 's':
                return pc
        return None

    def widen(self, at, low, high):
        """Between two jumps where the twin has one."""
        if 0 < at < len(self.pcs) and all(JUMP.match(self.code.text[pc])
                                          for pc in self.pcs[at - 1:at + 1]):
            first, second = self.places[at - 1:at + 1]
            if first is not None and second is None:
                low = self.twin.places[first]
            elif first is None and second is not None:
                high = self.twin.places[second] + 1
        return low, high

    def check(self, number, counts, own=None):
        """COUNTS must be those of the twin at stop NUMBER, and what handlers had counted, OWN."""
        low, high = self.position(number)
        pc = self.stops[number][1]
        self.checked += 1
        turned = self.turned(number, low, high)
        for column, count in enumerate(counts):
            count -= (own[column] if own else 0) + turned[column]
            least, most = self.twin.sums[low][column], self.twin.sums[high][column]
            offset = self.offsets.setdefault((pc, column, high - low), count - least)
            if (not least <= count <= most or offset != count - least) and len(self.problems) < 10:
                self.problems.append(f'at {pc:x} ({self.code.text.get(pc)}): {self.names[column]}: '
                                     f'{count}, but the twin had {least}')

    def turned(self, number, low, high):
        """What has been done of an instruction that repeats, in the middle of it."""
        pc, counter = self.stops[number][1], self.stops[number][3]
        text = self.code.text.get(pc, '')
        if not self.twin.starts or low != high or low >= len(self.twin.pcs) or \
                not REPEATS.match(text) or \
                not REPEATS.match(self.twin.code.text[self.twin.pcs[low]]):
            return [0] * len(self.names)
        turns = self.twin.starts[low] - counter
        self.middles += turns != 0
        return Weights(text).turn(turns)

    def known(self):
        """The first count that was asked for, by place in the twin's run where that is certain."""
        found = {}
        for number, (kind, _, counts, _) in enumerate(self.stops):
            if kind == 'q':
                low, high = self.position(number)
                if low == high:
                    found[low] = counts[0]
        return found

    def follow(self, twin):
        """Goes on with other sums of the same run."""
        self.twin = twin
        return self

    def run(self):
        for number, (kind, _, counts, _) in enumerate(self.stops):
            if kind == 'q' and self.places:
                self.check(number, counts)
        return self


