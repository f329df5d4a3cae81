"""Compares the hits of 'quipu watch' with the changes that watched.c saw.

Both are brought to a list of writes for each thread, in their order: (region, {offset: (old, new)},
function).  What is merged first, as a hit of ours covers what one store or one known callee wrote:

  - Turns of one repeated string instruction are one write, at its end.
  - All that changed within one call that left the program's functions is one write for each region,
    at the call's return; a byte that is at last what it was at first is none of it.  Hits may tell
    it in parts.  What runs in
    the program's own functions within the call, called back or as a handler, is not the call's.

Writes of one instruction, or of one call, to several regions stand in no certain order: they are
compared as a set.  Functions are compared by their demangled names, without what compilers append
for parts and copies.

Where a region holds addresses (loose), which differ between two builds, it is compared that it was
changed, when, and by whom.
"""
import difflib
import functools
import itertools
import re
import subprocess

LINES = 40
SUFFIX = re.compile(r'((\.(cold|part|isra|constprop|lto_priv|localalias)(\.\d+)?|\.\d+)|'
                    r' \[clone [^]]*\])+$')


@functools.lru_cache(maxsize=None)
def plain_name(function):
    """As a user reads it."""
    if function.startswith('_Z'):
        function = subprocess.run(['c++filt', function], check=True, stdout=subprocess.PIPE,
                                  text=True).stdout.strip()
    return SUFFIX.sub('', function)


class Write:
    """Bytes of one region that were changed at one time."""

    def __init__(self, region, function, at):
        self.region = region
        self.function = plain_name(function)
        self.at = at  # for the reader: where, by the oracle or by the tool
        self.bytes = {}
        self.is_call = False  # of code that is not the program's

    def add(self, first, old, new):
        """OLD became NEW, from offset FIRST on; a second change of a byte goes on from the first."""
        for offset, (before, after) in enumerate(zip(old, new), first):
            if before != after or offset in self.bytes:
                self.bytes[offset] = (self.bytes.get(offset, (before,))[0], after)
        self.bytes = {offset: pair for offset, pair in self.bytes.items() if pair[0] != pair[1]}

    def key(self, loose):
        changed = () if self.region in loose else tuple(sorted(self.bytes.items()))
        return self.region, changed, self.function

    def __str__(self):
        changed = ' '.join(f'{offset}:{old:02x}>{new:02x}'
                           for offset, (old, new) in sorted(self.bytes.items())[:24])
        return f'region {self.region} {changed} {self.function} ({self.at})'


class Thread:
    """Groups of writes, those of one instruction or call each, as a thread made them."""

    def __init__(self):
        self.groups = []
        self.step = None
        self.open = {}  # by number of a call or string instruction: {region: Write}

    def close(self, number):
        writes = self.open.pop(number, {})
        self.groups.append([write for write in writes.values() if write.bytes])


def read_changes(path):
    """{thread: [group]} of watched.c's FILE."""
    threads = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            word = line.split()
            thread = threads.setdefault(int(word[1]), Thread())
            if word[0] == 'return':
                thread.close(word[2])
                continue
            step, region, first = int(word[2]), int(word[3]), int(word[4])
            cause, call, place = word[8:11]
            number = call if call != '0' else None
            function = place.rsplit('+', 1)[0]
            at = f'step {step}, {" ".join([cause] + word[10:])}'
            if number:
                write = thread.open.setdefault(number, {}).setdefault(
                    region, Write(region, function, at))
            else:
                write = Write(region, function, at)
                if thread.step != step:
                    thread.groups.append([])
                thread.groups[-1].append(write)
            thread.step = None if number else step
            write.is_call = cause == 'kernel' or len(word) > 11
            write.add(first, bytes.fromhex(word[6]), bytes.fromhex(word[7]))
    for thread in threads.values():
        for number in list(thread.open):
            thread.close(number)
    found = {number: [group for group in thread.groups if group]
             for number, thread in threads.items()}
    return {number: groups for number, groups in found.items() if groups}


def differences(wanted, hits, loose):
    """Lines for the reader: what is missing, what is invented, each with what both have before."""
    matcher = difflib.SequenceMatcher(None, [write.key(loose) for write in wanted],
                                      [write.key(loose) for write in hits], autojunk=False)
    for what, first, last, first_hit, last_hit in matcher.get_opcodes():
        if what != 'equal':
            yield from (f'  both      {write}' for write in wanted[max(0, first - 1):first])
            yield from (f'  missing   {write}' for write in wanted[first:last])
            yield from (f'  invented  {write}' for write in hits[first_hit:last_hit])


def match_call(group, hits, at, loose):
    """How many of HITS, from AT on, make up what a call wrote; 0: they do not.  A call may be told in
    several hits: readv() writes to several places."""
    wanted = {write.region: write for write in group}
    seen = {}
    for number, hit in enumerate(hits[at:], 1):
        if hit.region not in wanted or hit.function != wanted[hit.region].function:
            return 0
        whole = seen.setdefault(hit.region, Write(hit.region, hit.function, hit.at))
        for offset, (old, new) in hit.bytes.items():
            whole.add(offset, [old], [new])
        if seen.keys() == wanted.keys() and \
                all(seen[region].key(loose) == wanted[region].key(loose) for region in wanted):
            return number
    return 0


def match(group, hits, at, loose):
    """How many of HITS, from AT on, are the writes of GROUP; 0: they are others."""
    seen = hits[at:at + len(group)]
    if sorted(write.key(loose) for write in group) == sorted(write.key(loose) for write in seen):
        return len(group)
    return match_call(group, hits, at, loose) if group[0].is_call else 0


def compare_thread(expected, hits, loose):
    """None, or what differs: EXPECTED is a list of groups, HITS one of writes."""
    at = 0
    for group in expected:
        count = match(group, hits, at, loose)
        if not count:
            break
        at += count
    else:
        if at == len(hits):
            return None
    skipped = max(0, at - 100)  # finding differences takes the square of the time
    wanted = [write for group in expected for write in sorted(group, key=lambda w: w.region)]
    lines = list(differences(wanted[skipped:at + 2000], hits[skipped:at + 2000], loose))
    return '\n'.join([f'after {at} equal writes:'] + lines[:LINES] + ['  ...'] * (len(lines) > LINES))


def by_region(threads):
    """{(thread, region): groups} of {thread: groups}."""
    found = {}
    for number, groups in threads.items():
        for write in itertools.chain.from_iterable(groups):
            found.setdefault((number, write.region), []).append([write])
    return found


def compare(expected, hits, loose=(), unordered=False):
    """None, or what differs.  EXPECTED is of read_changes, HITS {thread: [Write]}; LOOSE are numbers
    of regions; UNORDERED: the writes of a thread are in order in each region only, as where signals
    come at any time.  Threads are those that made the same writes; the others are paired by the
    order of their first."""
    if unordered:
        expected = by_region(expected)
        hits = {key: [write for group in groups for write in group] for key, groups in
                by_region({number: [writes] for number, writes in hits.items()}).items()}
    left, unequal = list(hits.values()), []
    for groups in expected.values():
        equal = next((writes for writes in left if not compare_thread(groups, writes, loose)), None)
        if equal is None:
            unequal.append(groups)
        else:
            left.remove(equal)
    if unequal or left:
        texts = [compare_thread(groups, writes, loose) for groups, writes in
                 itertools.zip_longest(unequal, left, fillvalue=[])]
        return f'{len(expected)} threads wrote, by the hits {len(hits)}; of the unequal ones:\n' + \
            '\n'.join(texts)
    return None
