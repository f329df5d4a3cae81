"""Workloads of Mazieres and Smith's kind: one file in bench/processes is a program of several
processes.  They are run with and without a trace, and are in no other mean."""
import os

from kernels import FULL, SMALL, Kernel
from places import TOP
from ratios import members, paired, ratio
from table import Table

FOLDER = os.path.join(TOP, 'bench', 'processes')
NAMES = ('twin', 'trace', 'trace stored')


class Processes(Kernel):
    """A file, traced."""

    kind = 'processes'
    variants = NAMES

    def __init__(self, file, quick):
        super().__init__(file, FOLDER, SMALL if quick else FULL)


def find_processes(quick=False):
    """All, by name.  QUICK: with the small input."""
    return [Processes(file, quick) for file in sorted(os.listdir(FOLDER)) if file.endswith('.c')]


def build_processes_table(result):
    """A row for each program; None where none of them was built."""
    names = [name for name in NAMES[1:] if name in result['variants']]
    programs = members(result, 'processes')
    if not names or not programs:
        return None
    rows = []
    for program in programs:
        values = [ratio(program, name, paired) for name in names]
        rows.append([program['title'], *('' if v is None else f'{v:.2f}' for v in values)])
    return Table('Programs of several processes: run time, by the twin', ['', *names], rows)
