"""What a stepped program executed and accessed, by objdump's text of its instructions.

Shares nothing with the tool but the names of functions.  stepped.c writes the registers at each
instruction; the text tells which addresses it accesses.
"""
import bisect
import re
import struct
import subprocess

NAMES = 'rip rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 fs'.split()
NUMBER = {name: index for index, name in enumerate(NAMES)}
SIZE = 8 * len(NAMES)
PIE_BASE = 0x555555554000  # where the kernel loads without random addresses
MASK = (1 << 64) - 1

MEMORY = re.compile(r'(%fs:)?(-?0x[0-9a-f]+)?(?<!%st)\(([^)]*)\)')
ABSOLUTE = re.compile(r'%fs:(-?0x[0-9a-f]+)(?!\()')
PREFIXES = {'rep', 'repz', 'repnz', 'lock', 'notrack', 'bnd', 'data16', 'cs', 'ds', 'es'}
STRING = re.compile(r'(movs|stos|lods|scas|cmps)([bwlq])?$')
CHANGES = re.compile(r'(add|sub|and|or|xor|inc|dec|neg|not|sh[lr]d?|sa[lr]|ro[lr]|rc[lr]|adc|sbb|xadd|'
                     r'cmpxchg(8b|16b)?|bt[src]|xchg)[bwlq]?$')
NOTHING = re.compile(r'(nop|lea|prefetch|endbr)(?!ve)')
REPEATS = re.compile(r'rep(z|nz)? (?!ret)')
BIT = re.compile(r'bt[src]?q? +%(r\w+),.*\)$')  # a bit string, of 64 bits each
PADDING = re.compile(r'(data16 |cs )*nop|xchg +%ax,%ax')


def read_steps(path):
    """Tuples in the order of NAMES."""
    with open(path, 'rb') as file:
        return list(struct.iter_unpack(f'<{len(NAMES)}Q', file.read()))


def read_vectors(path):
    """{number of the step: ([32 vectors], [8 masks])}, where an instruction may need them."""
    with open(path + '.vectors', 'rb') as file:
        rows = struct.iter_unpack('<Q2048s8Q', file.read())
        return {row[0]: ([row[1][64 * i:64 * i + 64] for i in range(32)], row[2:]) for row in rows}


def disassemble(program):
    """{address as linked: (text, address of the next one)}"""
    listing = subprocess.run(['objdump', '-dw', '--no-show-raw-insn', program], check=True,
                             capture_output=True, text=True).stdout
    found = re.findall(r'^\s+([0-9a-f]+):\t(.*)$', listing, re.MULTILINE)
    rows = [(int(address, 16), text.split('#')[0].strip()) for address, text in found]
    ends = [address for address, _ in rows[1:]] + [0]
    return {address: (text, end) for (address, text), end in zip(rows, ends)}


def read_sizes(program):
    """{address as linked: bytes of the instruction}"""
    listing = subprocess.run(['objdump', '-dw', program], check=True, capture_output=True,
                             text=True).stdout
    found = re.findall(r'^\s+([0-9a-f]+):\t((?:[0-9a-f]{2} )+)', listing, re.MULTILINE)
    return {int(address, 16): len(code.split()) for address, code in found}


class Functions:
    """The functions of a program by address."""

    def __init__(self, program):
        listing = subprocess.run(['nm', '-S', '--defined-only', program], check=True,
                                 capture_output=True, text=True).stdout
        rows = [line.split() for line in listing.splitlines()]
        self.rows = sorted((int(row[0], 16), int(row[1], 16), row[3]) for row in rows
                           if len(row) == 4 and row[2] in 'tTwWi')
        self.begins = [row[0] for row in self.rows]

    def find(self, address):
        """(name, offset), or None."""
        index = bisect.bisect_right(self.begins, address) - 1
        if index < 0 or address >= self.rows[index][0] + self.rows[index][1]:
            return None
        return self.rows[index][2], address - self.rows[index][0]


def string_accesses(kind, size, turns, step):
    """Of a string instruction that runs TURNS times."""
    found = []
    for turn in range(turns):
        if kind in ('movs', 'lods', 'cmps'):
            found.append((step[NUMBER['rsi']] + turn * size) & MASK)
        if kind in ('movs', 'stos', 'scas', 'cmps'):
            found.append((step[NUMBER['rdi']] + turn * size) & MASK)
    return found


def operand_address(operands, step, end, popped):
    """The address of the operand in memory, or None."""
    match = MEMORY.search(operands)
    if not match:
        match = ABSOLUTE.search(operands)
        return (int(match[1], 16) + step[NUMBER['fs']]) & MASK if match else None
    address = int(match[2], 16) if match[2] else 0
    base, *index = match[3].split(',')
    if base == '%rip':
        address += end
    elif base:
        address += step[NUMBER[base[1:]]] + (popped if base == '%rsp' else 0)
    if index and index[0]:
        address += step[NUMBER[index[0][1:]]] * int(index[1] if len(index) > 1 else 1)
    return (address + (step[NUMBER['fs']] if match[1] else 0)) & MASK


def split_text(text):
    """(prefix, mnemonic, operands)"""
    prefix, words = '', text.split(None, 1)
    while words[0] in PREFIXES and len(words) > 1:
        prefix, words = words[0], words[1].split(None, 1)
    return prefix, words[0], words[1] if len(words) > 1 else ''


def element_size(suffix, operands):
    """Of a string instruction, by its suffix or its register: %al, %ax, %eax, %rax."""
    if suffix:
        return {'b': 1, 'w': 2, 'l': 4, 'q': 8}[suffix]
    register = [word for word in re.findall(r'%(\w+)', operands) if word.endswith(('ax', 'al'))][0]
    return {'al': 1, 'ax': 2, 'eax': 4, 'rax': 8}[register]


def lane_size(mnemonic):
    """The bytes of an element of a vector instruction: vmovdqu8, vpmaskmovd, vaddps."""
    number = re.search(r'(8|16|32|64)$', mnemonic)
    if number:
        return int(number[1]) // 8
    suffix = re.search(r'(p[sd]|(?<!ab)s[sd]|[bwdq])$', mnemonic)[1]
    return {'b': 1, 'w': 2, 'd': 4, 'ps': 4, 'ss': 4}.get(suffix, 8)


def runs(base, size, lanes):
    """The begins of runs of neighbours among LANES."""
    return [(base + lane * size) & MASK for lane in lanes if lane - 1 not in lanes]


def signs(vector, size, count):
    """The elements whose sign is set."""
    return {i for i in range(count) if vector[(i + 1) * size - 1] >> 7}


def scattered_accesses(mnemonic, operands, step, vectors):
    """Of a gather or scatter."""
    registers, masks = vectors
    match = re.search(r'(-?0x[0-9a-f]+)?\((%\w+)?,%([xyz])mm(\d+)(?:,(\d))?\)', operands)
    width = {'x': 16, 'y': 32, 'z': 64}
    data = [width[letter] for letter in re.findall(r'%([xyz])mm', re.sub(r'\([^)]*\)', '', operands))]
    size = 8 if mnemonic.endswith(('pd', 'q')) else 4
    index_size = 8 if re.search(r'(gather|scatter)q', mnemonic) else 4
    count = min(max(data) // size, width[match[3]] // index_size)
    mask = re.search(r'\{%k(\d)\}', operands)
    if mask:
        lanes = {i for i in range(count) if masks[int(mask[1])] >> i & 1}
    else:
        lanes = signs(registers[int(re.match(r'%[xyz]mm(\d+)', operands)[1])], size, count)
    base = (step[NUMBER[match[2][1:]]] if match[2] else 0) + int(match[1] or '0', 16)
    found = []
    for lane in sorted(lanes):
        place = registers[int(match[4])][lane * index_size:(lane + 1) * index_size]
        found.append((base + int.from_bytes(place, 'little', signed=True) * int(match[5] or 1)) & MASK)
    return found


def masked_accesses(mnemonic, operands, address, vectors):
    """Of a vector instruction whose mask selects elements, or None for others."""
    registers, masks = vectors
    names = re.findall(r'%([xyz])mm(\d+)', operands)
    bytes_used = max([{'x': 16, 'y': 32, 'z': 64}[letter] for letter, _ in names], default=0)
    if 'maskmov' in mnemonic:
        size = 1 if mnemonic.endswith('dqu') else lane_size(mnemonic)
        mask = names[0] if mnemonic.endswith('dqu') or operands.startswith(('(', '0x', '-', '%fs')) \
            else names[1]
        return runs(address, size, signs(registers[int(mask[1])], size, bytes_used // size))
    mask = re.search(r'\{%k(\d)\}', operands)
    if not mask or address is None:
        return None
    size = lane_size(mnemonic)
    lanes = {i for i in range(bytes_used // size) if masks[int(mask[1])] >> i & 1}
    if '{1to' in operands:
        lanes = {0} if lanes else set()
    if 'compress' in mnemonic or 'expand' in mnemonic:
        lanes = set(range(len(lanes)))
    return runs(address, size, lanes)


def accesses(text, end, step, behind, vectors=None):
    """The addresses that an instruction accesses, in order.  STEP: the registers in front of it;
    BEHIND: those at the next stop, or None; END: the address behind it; VECTORS: a row of
    read_vectors, or None."""
    prefix, mnemonic, operands = split_text(text)
    stack = step[NUMBER['rsp']]
    if NOTHING.match(mnemonic):
        return []
    if vectors and ('gather' in mnemonic or 'scatter' in mnemonic):
        return scattered_accesses(mnemonic, operands, step, vectors)
    if vectors:
        address = step[NUMBER['rdi']] if mnemonic.endswith('maskmovdqu') else \
            operand_address(operands, step, end, 0)
        masked = masked_accesses(mnemonic, operands, address, vectors)
        if masked is not None:
            return masked
    string = STRING.match(mnemonic)
    if string and ('(%rdi)' in operands or '(%rsi)' in operands) and 'xmm' not in operands:
        turns = 1
        if prefix.startswith('rep'):
            turns = step[NUMBER['rcx']] - (behind[NUMBER['rcx']] if behind else 0)
        return string_accesses(string[1], element_size(string[2], operands), turns, step)
    width = 2 if mnemonic in ('pushw', 'popw') else 8
    pops = mnemonic.startswith('pop') and mnemonic != 'popcnt'
    popped = width if pops else 0
    address = operand_address(operands, step, end, popped)
    bit = BIT.match(f'{mnemonic} {operands}')
    if bit:
        address += (signed(step[NUMBER[bit[1]]]) >> 6) << 3
    there = [] if address is None else [address]
    if mnemonic.startswith(('push', 'call')):
        return there + [(stack - width) & MASK]
    if pops:
        return [stack] + there
    if mnemonic.startswith('ret'):
        return [stack]
    if mnemonic.startswith('leave'):
        return [step[NUMBER['rbp']]]
    if there and CHANGES.match(mnemonic) and (operands.endswith(')') or mnemonic.startswith('xchg')):
        return there * 2
    return there


def signed(number):
    return number - (1 << 64) if number >> 63 else number


def is_padding(text):
    """Alignment differs between two builds."""
    return PADDING.match(text) is not None


def executed(steps, text, bias):
    """Indexes of STEPS, each instruction once: a string instruction stops before each turn."""
    found = []
    for index, step in enumerate(steps):
        again = index and steps[index - 1][0] == step[0]
        if not (again and REPEATS.match(text.get(step[0] - bias, ('',))[0])):
            found.append(index)
    return found
