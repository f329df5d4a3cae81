"""From measured times to tables, and the whole report."""
import statistics

from elimination import build_elimination_table
from paper import build_paper_table
from probes import build_peers_table, build_service_table, probe_goals
from processes import build_processes_table
from queries import build_query_table, nanoseconds
from ratios import (BY_NAME, compile_ratio, fastest, geometric_mean, members, paired, ratio,
                    root_mean_square, show, size_ratio, worst)
from table import Table
from traces import build_paths_table, build_traces_table

GROUPS = [('program', 'real programs'), ('kernel', 'kernels')]


def spread(program, name):
    """How far the median and the slowest run of a variant are above the fastest."""
    times = program['seconds'].get(name)
    if not times:
        return ''
    return f'{statistics.median(times) / min(times) - 1:.0%} {max(times) / min(times) - 1:.0%}'


def build_time_table(result, compare, title, table='time'):
    """Run times: ratios by COMPARE (paired, fastest), of those variants that are in TABLE."""
    names = [name for name in result['variants']
             if BY_NAME[name].base and BY_NAME[name].table == table]
    if not names:
        return None
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
    if not rows or not columns:
        return None
    rows.append(None)
    for label, join in (('geometric mean', geometric_mean), ('worst', worst)):
        rows.append([label, '', *(show(join([f(p) for p in programs])) for _, f in columns)])
    title = f"Compile time and size at -O2 -g: ratio to the plain compiler's, " \
            f"best of {result['builds']} builds"
    return Table(title, ['', 'gcc, s', *(head for head, _ in columns)], rows)


# Variant, what is armed, limits: of the geometric mean, and of the worst kernel.  Regions are held to
# the same wherever they are.
WATCH_GOALS = [
    ('watch', 'nothing armed', 1.03, 1.3),
    ('watch 1', 'one region', 1.05, 1.3),
    ('watch 10^2', '10^2 regions', 1.05, 1.3),
    ('watch 10^4', '10^4 regions', 1.05, 1.3),
    ('watch 10^6', '10^6 regions', 1.05, 1.3),
    ('watch 1 heap', 'one region in the heap', 1.05, 1.3),
    ('watch 1 elsewhere', 'one region in no variable, heap or stack', 1.05, 1.3),
    ('watch 10^6 elsewhere', '10^6 regions in no variable, heap or stack', 1.05, 1.3),
    ('watch 1 stack', 'one region in the stack', 1.05, 1.3),
    ('watch -O0', 'nothing armed, at -O0', 1.25, None),
    ('watch -O0 1', 'one region, at -O0', 1.25, None),
]

# What is to be reached: label, kind, how values join, value of one program, limit (None: none was
# set, and it is shown beside the others).  Times are judged by the medians within rounds.
GOALS = [
    ('real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'quipu', paired), 1.03),
    ('worst kernel, run time', 'kernel', worst,
     lambda p: ratio(p, 'quipu', paired), 1.2),
    ('event: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'event', paired), 1.03),
    ('event: worst kernel, run time', 'kernel', worst, lambda p: ratio(p, 'event', paired), 1.2),
    ('moment: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'moment', paired), 1.02),
    ('moment: worst kernel, run time', 'kernel', worst, lambda p: ratio(p, 'moment', paired), 1.15),
    ('calls: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'calls', paired), 1.3),
    *(goal for name, what, limit, most in WATCH_GOALS for goal in (
        (f'watch, {what}: real programs, run time, geometric mean', 'program', geometric_mean,
         lambda p, name=name: ratio(p, name, paired), limit),
        (f'watch, {what}: worst kernel, run time', 'kernel', worst,
         lambda p, name=name: ratio(p, name, paired), most))),
    ('trace into memory: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'trace', paired), 1.6),
    ('trace into memory: worst real program', 'program', worst,
     lambda p: ratio(p, 'trace', paired), 2.5),
    ('trace stored: real programs, time on the wall, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'trace stored', paired), 3),
    ('trace stored: worst real program', 'program', worst,
     lambda p: ratio(p, 'trace stored', paired), 5),
    ('moment and trace, not recorded: real programs, by moment, geometric mean', 'program',
     geometric_mean, lambda p: ratio(p, 'moment+trace', paired), 1.01),
    ('all modes: real programs, run time, geometric mean', 'program', geometric_mean,
     lambda p: ratio(p, 'all', paired), None),
    ('all modes: worst kernel, run time', 'kernel', worst, lambda p: ratio(p, 'all', paired), None),
    ('quipu_events from C, nanoseconds', 'query', worst, lambda p: nanoseconds(p, 'event'), 20),
    ('quipu_now from C, nanoseconds', 'query', worst, lambda p: nanoseconds(p, 'moment'), 30),
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
        if limit is None:
            rows.append([label, show(measured), '', ''])
            continue
        good = measured <= limit
        reached = reached and good
        rows.append([label, show(measured), f'{limit:g}', 'yes' if good else 'no'])
    for label, measured, limit in probe_goals(result):
        reached = reached and measured <= limit
        rows.append([label, show(measured), f'{limit:g}', 'yes' if measured <= limit else 'no'])
    return Table('Goals of quipu', ['', 'measured', 'at most', 'reached'], rows), reached


def tell_noise(result):
    """How far the column gcc is from 1, which would be 1 on a machine without noise: a line, or none.
    The real programs are executables, and there it is the twin's own code."""
    errors = [root_mean_square(ratio(p, 'gcc', compare) for p in members(result, 'program'))
              for compare in (paired, fastest)]
    if None in errors:
        return []
    return ['noise: over the real programs the column gcc, which is the same code as the twin, is off '
            'it by {:.1%} (root mean square) in the first table and by {:.1%} in the second'
            .format(*errors)]


def failures(result):
    """Lines on what failed."""
    return [f"{p['name']}: {name}: {text}" for p in result['programs']
            for name, text in p['failed'].items()] + \
           [f"{p['name']}: {p['failed']}" for p in result.get('probes', []) if p['failed']]


def render(result, markdown):
    """The whole report as text."""
    machine = [f'{key}: {value}' for key, value in result['machine'].items()]
    machine.append(f"method: {result['runs']} interleaved rounds (kernels and queries a third), user "
                   'and system time of the process and its children')
    columns = [f'{n}: {BY_NAME[n].help}' for n in result['variants']]
    columns.append('spread: how far the median and the slowest run are above the fastest')
    times = [build_time_table(result, compare, f'{title}: {how}', table)
             for table, title in (('time', 'Run time'), ('watch', 'Run time, memory watched'),
                                ('trace', 'Run time, traced'), ('recording', 'Run time, recorded'))
             for compare, how in ((paired, 'median of the ratios within each round'),
                                  (fastest, 'ratio of the fastest runs'))]
    tables = [*times, build_paper_table(result), build_query_table(result),
              build_processes_table(result),
              build_elimination_table(result), build_traces_table(result), build_paths_table(result),
              build_service_table(result), build_peers_table(result), build_compile_table(result),
              check_goals(result)[0]]
    tables = [table for table in tables if table and table.rows]
    notes = result['notes'] + tell_noise(result) + [f'FAILED {line}' for line in failures(result)]
    if markdown:
        parts = ['\n'.join(f'- {line}' for line in machine), 'Columns:',
                 '\n'.join(f'- {line}' for line in columns),
                 *(table.markdown() for table in tables)]
        parts += ['\n'.join(f'- {line}' for line in notes)] if notes else []
    else:
        parts = ['\n'.join(machine), '\n'.join(columns), *(table.text() for table in tables)]
        parts += ['\n'.join(notes)] if notes else []
    return '\n\n'.join(parts) + '\n'
