"""widths: how many bytes an instruction's operand in memory has, by objdump's text alone.

Written from the manuals, and shares no code with the tool.  An instruction that is not known is an
error, not a guess.
"""
import re

LETTERS = {'b': 1, 'w': 2, 'l': 4, 'q': 8}
# What may be followed by the letter of its operands' size.
SIZED = set('mov add sub adc sbb and or xor not neg cmp test inc dec shl shr sar sal rol ror rcl rcr '
            'shld shrd mul imul div idiv push pop xchg xadd cmpxchg bt bts btr btc movabs movnti '
            'bsf bsr tzcnt lzcnt popcnt movbe call jmp ret leave movs stos lods scas cmps'.split())
# BMI and ADX: all operands of an instruction are of one size.
BIT_FIELDS = re.compile(r'^(andn|bextr|bls(i|r|msk)|bzhi|pdep|pext|mulx|rorx|s(hl|hr|ar)x|adcx|adox)$')
X87 = re.compile(r'^f(ld|st|stp|add|sub|subr|mul|div|divr|com|comp)([slt])$')
X87_INTEGER = re.compile(r'^fi(?:ld|st|stp|sttp|add|sub|subr|mul|div|divr|com|comp)(s|l|ll|q)$')


def register_width(name):
    """Of '%eax' and the like; None for what is no general or vector register."""
    if re.match(r'^%[xyz]mm\d+$', name):
        return {'x': 16, 'y': 32, 'z': 64}[name[1]]
    if re.match(r'^%mm\d$', name):
        return 8
    match = re.match(r'^%r\d+([dwb]?)$', name)
    if match:
        return {'': 8, 'd': 4, 'w': 2, 'b': 1}[match.group(1)]
    if re.match(r'^%r[a-ds][xpi]$|^%rbp$', name):
        return 8
    if re.match(r'^%e[a-ds][xpi]$|^%ebp$', name):
        return 4
    if re.match(r'^%([a-d][lh]|[sd]il|[sb]pl)$', name):
        return 1
    if re.match(r'^%([a-d]x|[sd]i|[sb]p)$', name):
        return 2
    return None


def vector_width(word, widest):
    """Of an instruction on vectors, by its name without the 'v' in front."""
    extended = re.match(r'^pmov[sz]x([bwd])([wdq])$', word)
    if extended:
        sizes = {'b': 1, 'w': 2, 'd': 4, 'q': 8}
        return widest * sizes[extended.group(1)] // sizes[extended.group(2)]
    for pattern, width in ((r'^p(ins|ext)r([bwdq])$', None), (r'^movd$', 4), (r'^movq$', 8),
                           (r'^mov[lh]p[sd]$', 8), (r'^movddup$', widest // 2 if widest == 16
                                                    else widest),
                           (r'^cvtsi2s[sd]l$', 4), (r'^cvtsi2s[sd]q$', 8),
                           (r'^cvtt?ss2s[id]', 4), (r'^cvtt?sd2s[is]', 8),
                           (r'^cvt(ps|dq)2pd$', widest // 2),
                           (r'^broadcasts(s|d)$', None), (r'^(insert|extract)[fi]128$', 16)):
        match = re.match(pattern, word)
        if match and width:
            return width
        if match:
            return {'b': 1, 'w': 2, 'd': 8 if 'cast' in word else 4, 's': 4,
                    'q': 8}[match.group(match.lastindex)]
    if re.match(r'^(mov|add|sub|mul|div|sqrt|max|min|u?comi|cmp\w*|fn?m(add|sub)\d+|round)s[sd]$',
                word):
        return 4 if word.endswith('s') else 8
    if re.match(r'^(p|lddqu|mov(nt)?dq|movdq|\w+p[sd]$)', word):
        return widest
    return None


def memory_width(word, operands):
    """Bytes of one operand in memory of the instruction, without prefixes."""
    registers = re.findall(r'%\w+', re.sub(r'\([^)]*\)|%[defgs]s:', '', operands))
    widths = [w for w in map(register_width, registers) if w]
    vectors = [r for r in registers if re.match(r'^%([xyz]?)mm', r)]
    for match in (re.match(r'^mov[sz]([bwl])[wlq]$', word),
                  re.match(r'^(?:movs|cmps)([bwlq])$', word) if '%es:' in operands else None):
        if match:
            return LETTERS[match.group(1)]
    if word.startswith('set'):
        return 1
    if X87.match(word):
        return {'s': 4, 'l': 8, 't': 10}[X87.match(word).group(2)]
    if X87_INTEGER.match(word):
        return {'s': 2, 'l': 4, 'll': 8, 'q': 8}[X87_INTEGER.match(word).group(1)]
    if word in ('fldcw', 'fnstcw', 'fnstsw'):
        return 2
    if word in ('ldmxcsr', 'stmxcsr'):
        return 4
    if word == 'cmpxchg16b':
        return 16
    if re.match(r'^(push|pop|call|ret|leave|jmp)q?$', word):
        return 2 if widths == [2] else 8
    if 'gather' in word:  # all elements, whatever the mask: here as wide as the result
        return register_width(registers[-1])
    packed = re.match(r'^v?cvtt?(ps|pd|dq)2(ps|pd|dq)$', word)
    if packed:
        size = {'ps': 4, 'dq': 4, 'pd': 8}
        from_size, to_size = size[packed.group(1)], size[packed.group(2)]
        return 16 if from_size > to_size else max(widths) * from_size // to_size
    if word.startswith('vcvt') and word[-1] in 'xy':  # the size of the operand in memory
        return {'x': 16, 'y': 32}[word[-1]]
    if vectors or word.startswith('cvt'):
        width = vector_width(word.removeprefix('v'), max(widths))
        if width:
            return width
    elif word[:-1] in SIZED and word not in SIZED and word[-1] in LETTERS:
        return LETTERS[word[-1]]
    elif widths and (word in SIZED or BIT_FIELDS.match(word) or
                     re.match(r'^(cmov|bsf|bsr)', word)):
        return widths[-1]
    raise ValueError(f'the oracle does not know how wide this is: {word} {operands}')
