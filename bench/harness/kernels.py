"""The kernels: one file in bench/kernels is one program."""
import os
import re

from measure import Command
from places import KERNELS, WORK, run_shell

FULL, SMALL = 100, 20  # percent of the work


class Kernel:
    """A file; its flags are -O2 -g, or stand in its head after 'flags:'."""

    kind = 'kernel'
    variants = None  # all

    def __init__(self, file, folder=KERNELS, size=FULL):
        self.size = size
        self.source = os.path.join(folder, file)
        self.name, self.ending = os.path.splitext(file)
        self.title = self.name.replace('_', ' ')
        self.languages = ['c++' if self.ending == '.cc' else 'cc']
        with open(self.source, encoding='utf-8') as text:
            flags = re.search(r'^ \* flags: ([^*\n]*)', text.read(1000), re.MULTILINE)
        self.flags = flags.group(1).strip() if flags else '-O2'

    def prepare(self):
        """Nothing to fetch."""

    def build(self, variant, environment):
        """Compiles; returns the binary's path."""
        directory = os.path.join(WORK, 'kernels', variant.name.replace(' ', '-'))
        os.makedirs(directory, exist_ok=True)
        run_shell(f'bench-{self.languages[0]} {self.flags} -g "{self.source}" -o {self.name}', directory,
                  environment)
        return os.path.join(directory, self.name)

    def workload(self, binary, small):
        """The commands of one run."""
        return [Command([binary, str(SMALL if small else self.size)], 'checksum')]


def find_kernels(quick=False):
    """All, by name.  QUICK: with the small input."""
    files = [f for f in sorted(os.listdir(KERNELS)) if os.path.splitext(f)[1] in ('.c', '.cc')]
    return [Kernel(file, size=SMALL if quick else FULL) for file in files]
