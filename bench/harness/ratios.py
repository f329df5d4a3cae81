"""Ratios of measured times and sizes, and how those of several programs are joined."""
import math
import statistics

from variants import VARIANTS

BY_NAME = {variant.name: variant for variant in VARIANTS}


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


def root_mean_square(values):
    """Of the distances from 1; None where there is no value."""
    values = [value for value in values if value]
    return math.sqrt(statistics.fmean((value - 1) ** 2 for value in values)) if values else None


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
