"""What a program pays that asks: one file in bench/queries calls one function of <quipu.h> as often
as its argument says.  What the calls take is the time above the twin's, which asks in vain."""
import statistics

from kernels import Kernel
from measure import Command
from places import QUERIES as FOLDER
from ratios import members
from table import Table

CALLS = 20_000_000


class Query(Kernel):
    """A file, measured in those VARIANTS that can answer."""

    kind = 'query'

    def __init__(self, name, variants):
        super().__init__(name + '.c', FOLDER)
        self.title = name
        self.variants = ('twin', *variants)

    def workload(self, binary, small):
        """The commands of one run."""
        return [Command([binary, str(CALLS)], 'calls')]


QUERIES = [Query('quipu_events', ['event', 'all']), Query('quipu_now', ['moment', 'all'])]


def nanoseconds(program, name):
    """What a call takes in the variant NAME: the median of each round's difference; None for none."""
    times, base = program['seconds'].get(name), program['seconds'].get('twin')
    if not times or not base or name in program['failed']:
        return None
    return statistics.median(time - less for time, less in zip(times, base)) / CALLS * 1e9


def build_query_table(result):
    """A row for each function; None where none of them was built."""
    names = [name for name in ('event', 'moment', 'all') if name in result['variants']]
    if not names:
        return None
    rows = []
    for program in members(result, 'query'):
        values = [nanoseconds(program, name) for name in names]
        rows.append([program['title'], *('' if v is None else f'{v:.1f}' for v in values)])
    return Table('Queries from C: nanoseconds a call', ['', *names], rows)
