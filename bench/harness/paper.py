"""The table of the paper: J. M. Mellor-Crummey and T. J. LeBlanc, "A Software Instruction Counter",
ASPLOS 1989, table 2 of section 2.3, made anew with what has become of its programs.

Its columns are a build with all registers, one with a register reserved for the counter, and one
that counts in it.  quipu reserves none, so the second column tells what it would cost, and the third
counts in memory, in a build with all registers.  The paper reserved d7 of the 68020, one of the six
data registers that calls preserve; here it is %r15, which calls preserve, too.

Where it is not perfect: the paper's compress is of the LZW family, the one here of LZ77; its string
functions of the C library were counted with the program, and here they are not.
"""
import inputs
from measure import Command
from programs import PROGRAMS
from ratios import geometric_mean, members, paired
from table import Table


class Search:
    """One more workload of grep, in its builds: OPTIONS and PATTERN, in TIMES 20 MiB of text."""

    kind = 'paper'
    variants = ('twin', 'gcc', 'reserved', 'moment')

    def __init__(self, name, options, pattern, times):
        self.name = self.title = name
        self.grep = next(program for program in PROGRAMS if program.name == 'grep')
        self.languages = self.grep.languages
        self.options, self.pattern, self.times = options, pattern, times

    def prepare(self):
        """Fetches and configures grep, where that is not done."""
        self.grep.prepare()
        self.title = f"{self.grep.title} '{self.pattern}'"

    def build(self, variant, environment):
        """What grep's own turn has built; where it had none, builds."""
        return self.grep.built.get(variant.name) or self.grep.build(variant, environment)

    def workload(self, binary, small):
        """The commands of one run."""
        texts = [inputs.text(20)] * (1 if small else self.times) + [inputs.needle()]
        return [Command([binary, self.options, self.pattern, *texts], 'lines')]


SEARCHES = [Search('grep-range', '-cE', '[a-z]+Z', 12), Search('grep-fixed', '-c', 'ZZZ', 30)]

# Its program, ours, its seconds (baseline, register, count), and its overhead as it prints it.
ROWS = [
    ('recursive Fibonacci', 'fibonacci', (99.1, 99.1, 102.8), '3.7%'),
    ('compress', 'compress', (329.7, 332.8, 330.3), '0.2%'),
    ("grep '[a-z]+Z'", 'grep-range', (92.2, 92.5, 103.3), '12%'),
    ("grep 'ZZZ'", 'grep-fixed', (24.7, 24.3, 25.0), '1%'),
    ('ditroff', 'groff', (149.0, 148.5, 155.2), '4.1%'),
    ('lex', 'flex', (53.6, 53.5, 53.8), '0%'),
    ('Dhrystone 2.1', 'dhrystone', (108.4, 108.4, 122.0), '12.5%'),
]


def percent(value):
    """How far a ratio is above 1."""
    return '' if value is None else f'{100 * (value - 1):.1f}%'


def above_baseline(program, name):
    """The time of variant NAME by plain gcc's; None for none."""
    times, base = program['seconds'].get(name), program['seconds'].get('gcc')
    if not times or not base or program['failed'].keys() & {name, 'gcc'}:
        return None
    return paired(times, base)


def build_paper_table(result):
    """The paper's table and ours side by side, of the programs that were measured."""
    measured = {p['name']: p for kind in ('program', 'paper', 'kernel')
                for p in members(result, kind)}
    rows, ratios = [], []
    for title, name, (baseline, register, count), overhead in ROWS:
        program = measured.get(name)
        ours = [program and above_baseline(program, column) for column in ('reserved', 'moment')]
        if not any(ours):
            continue
        rows.append([title, program['title'], f"{min(program['seconds']['gcc']):.2f}",
                     *map(percent, ours), percent(register / baseline), overhead])
        ratios.append((*ours, register / baseline, count / baseline))
    if rows:
        rows += [None, ['geometric mean', '', '', *(percent(geometric_mean(column))
                                                    for column in zip(*ratios))]]
    heads = ["the paper's program", 'here', 'baseline, s', 'register reserved', 'counting',
             'paper: register reserved', 'paper: counting']
    return Table('The table of the software instruction counter: run time above the baseline '
                 '(plain gcc), beside that of the paper', heads, rows)
