"""From measured times to tables, and tables to text and Markdown."""
import math
import statistics

from variants import VARIANTS

GROUPS = [('program', 'real programs'), ('kernel', 'kernels')]
BY_NAME = {variant.name: variant for variant in VARIANTS}


class Table:
    """Rows of text under column heads; a row that is None is a rule."""

    def __init__(self, title, heads, rows):
        self.title, self.heads, self.rows = title, heads, rows

    def text(self):
        """Aligned columns: the first to the left, the rest to the right."""
        rows = [self.heads, *(row for row in self.rows if row)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.heads))]

        def line(row):
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
            return '  '.join(cells).rstrip()
        rule = '-' * (sum(widths) + 2 * (len(widths) - 1))
        body = [line(row) if row else rule for row in self.rows]
        return '\n'.join([self.title, '', line(self.heads), rule, *body])

    def markdown(self):
        """A pipe table; rules vanish, rows that follow one are bold."""
        lines = [f'### {self.title}', '', '| ' + ' | '.join(self.heads) + ' |',
                 '|---|' + '---:|' * (len(self.heads) - 1)]
        bold = False
        for row in self.rows:
            if not row:
                bold = not bold
                continue
            cells = [f'**{cell}**' if bold and cell else cell for cell in row]
            lines.append('| ' + ' | '.join(cells) + ' |')
        return '\n'.join(lines)


def paired(times, base):
    """The median of each round's ratio: what the machine does for a while falls on both sides of
    one.  Where the numbers of runs differ, the ratio of the medians."""
    if len(times) != len(base):
        return statistics.median(times) / statistics.median(base)
    return statistics.median(one / other for one, other in zip(times, base))


def fastest(times, base):
    """The ratio of the fastest runs."""
    return min(times) / min(base)


def ratio(program, name, compare):
    """The time of variant NAME by its base's, by COMPARE (paired, fastest); None for none."""
    variant = BY_NAME[name]
    times = program['small' if variant.wrap else 'seconds']
    if variant.base is None or name in program['failed'] or not times.get(name) \
            or not times.get(variant.base):
        return None
    return compare(times[name], times[variant.base])


def compile_ratio(program, name):
    """Compile time by the plain compiler's: the fastest builds."""
    plain = BY_NAME[name].plain
    times = program['compile']
    if name in program['failed'] or not times.get(name) or not times.get(plain):
        return None
    return min(times[name]) / min(times[plain])


def size_ratio(program, name, kind):
    """Size of the file or of what is loaded of it, by the plain compiler's."""
    sizes, plain = program[kind], BY_NAME[name].plain
    if name in program['failed'] or name not in sizes or plain not in sizes:
        return None
    return sizes[name] / sizes[plain]


def geometric_mean(values):
    """None where there is no value."""
    values = [value for value in values if value]
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def worst(values):
    """The greatest; None where there is no value."""
    return max((value for value in values if value), default=None)


def show(value):
    """A ratio for a cell."""
    if value is None:
        return ''
    return f'{value:.3f}' if value < 10 else f'{value:.1f}'


def members(result, kind):
    """The programs of a kind that ran."""
    return [p for p in result['programs'] if p['kind'] == kind and p['seconds'].get('twin')]


def spread(program, name):
    """How far the median and the slowest run of a variant are above the fastest."""
    times = program['seconds'].get(name)
    if not times:
        return ''
    return f'{statistics.median(times) / min(times) - 1:.0%} {max(times) / min(times) - 1:.0%}'


def build_time_table(result, compare, title):
    """Run times: ratios by COMPARE (paired, fastest)."""
    names = [name for name in result['variants'] if BY_NAME[name].base]
    shown = [name for name in ('twin', 'quipu') if name in result['variants']]
    rows = []
    for kind, group in GROUPS:
        programs = members(result, kind)
        for program in programs:
            cells = ['failed' if name in program['failed'] else show(ratio(program, name, compare))
                     for name in names]
            rows.append([program['title'], f"{min(program['seconds']['twin']):.2f}", *cells,
                         *(spread(program, name) for name in shown)])
        if not programs:
            continue
        rows.append(None)
        for label, join in (('geometric mean', geometric_mean), ('worst', worst)):
            cells = [show(join([ratio(p, name, compare) for p in programs])) for name in names]
            rows.append([f'{group}: {label}', '', *cells, *('' for _ in shown)])
        rows.append(None)
    heads = ['', 'twin, s', *names, *(f'{name}: spread' for name in shown)]
    return Table(title, heads, rows[:-1])


def build_compile_table(result):
    """Compile times and sizes of the real programs."""
    programs = [p for p in members(result, 'program') if p['compile'].get('gcc')]
    timed = [n for n in result['variants'] if BY_NAME[n].builds and BY_NAME[n].plain != n]
    columns = [(f'{n}: time', lambda p, n=n: compile_ratio(p, n)) for n in timed]
    for kind in ('file', 'loaded'):
        columns += [(f'{n}: {kind}', lambda p, n=n, kind=kind: size_ratio(p, n, kind))
                    for n in timed]
    rows = [[p['title'], f"{min(p['compile']['gcc']):.2f}", *(show(f(p)) for _, f in columns)]
            for p in programs]
    if not rows:
        return None
    rows.append(None)
    for label, join in (('geometric mean', geometric_mean), ('worst', worst)):
        rows.append([label, '', *(show(join([f(p) for p in programs])) for _, f in columns)])
    title = f"Compile time and size at -O2 -g: ratio to the plain compiler's, " \
            f"best of {result['builds']} builds"
    return Table(title, ['', 'gcc, s', *(head for head, _ in columns)], rows)


# What is to be reached, judged by the fastest runs, since what a machine does besides only adds
# time: label, kind, how ratios join, ratio of one program, limit.
GOALS = [
    ('real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'quipu', fastest), 1.03),
    ('worst kernel, run time', 'kernel', worst,
     lambda p: ratio(p, 'quipu', fastest), 1.2),
    ('event: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'event', fastest), 1.03),
    ('event: worst kernel, run time', 'kernel', worst, lambda p: ratio(p, 'event', fastest), 1.2),
    ('moment: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'moment', fastest), 1.02),
    ('moment: worst kernel, run time', 'kernel', worst, lambda p: ratio(p, 'moment', fastest), 1.15),
    ('calls: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'calls', fastest), 1.3),
    ('real programs, compile time, geometric mean', 'program', geometric_mean,
     lambda p: compile_ratio(p, 'quipu'), 1.4),
    ('real programs, compile time, worst', 'program', worst,
     lambda p: compile_ratio(p, 'quipu'), 1.4),
]


def check_goals(result):
    """A table of the goals, and whether all that were measured are reached."""
    rows, reached = [], True
    for label, kind, join, value, limit in GOALS:
        measured = join([value(p) for p in members(result, kind)])
        if measured is None:
            continue
        good = measured <= limit
        reached = reached and good
        rows.append([label, show(measured), f'{limit:g}', 'yes' if good else 'no'])
    return Table('Goals of quipu', ['', 'measured', 'at most', 'reached'], rows), reached


def failures(result):
    """Lines on what failed."""
    return [f"{p['name']}: {name}: {text}" for p in result['programs']
            for name, text in p['failed'].items()]


def render(result, markdown):
    """The whole report as text."""
    machine = [f'{key}: {value}' for key, value in result['machine'].items()]
    machine.append(f"method: {result['runs']} interleaved rounds (kernels a third), user and system "
                   'time of the process and its children')
    columns = [f'{n}: {BY_NAME[n].help}' for n in result['variants']]
    columns.append('spread: how far the median and the slowest run are above the fastest')
    times = [build_time_table(result, fastest, 'Run time: ratio of the fastest runs'),
             build_time_table(result, paired, 'Run time: median of the ratios within each round')]
    tables = [*times, build_compile_table(result), check_goals(result)[0]]
    tables = [table for table in tables if table and table.rows]
    notes = result['notes'] + [f'FAILED {line}' for line in failures(result)]
    if markdown:
        parts = ['\n'.join(f'- {line}' for line in machine), 'Columns:',
                 '\n'.join(f'- {line}' for line in columns),
                 *(table.markdown() for table in tables)]
        parts += ['\n'.join(f'- {line}' for line in notes)] if notes else []
    else:
        parts = ['\n'.join(machine), '\n'.join(columns), *(table.text() for table in tables)]
        parts += ['\n'.join(notes)] if notes else []
    return '\n\n'.join(parts) + '\n'
