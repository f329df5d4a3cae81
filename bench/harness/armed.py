"""Programs that run with regions armed that nobody writes to.

An object that LD_PRELOAD puts in front of the program (bench/watch) makes the regions, and then
takes the processor time from there to the program's end: a million regions take about as long to
make as the program runs.  So the same binary serves for any number.  What is compared with it is the
twin under the same clock, which makes none, but reads the same variables where there are many.
"""
import os

from places import BUILD, TOP, WORK, Failed, run_shell

LONGEST = 60  # seconds for one command: ten times what any takes that calls little it has to compare

BUILD_CLOCK = '''
    flags="-O2 -g -fPIC -I$TOP/include"
    gcc $flags -c "$TOP/bench/watch/clock.c" "$TOP/bench/watch/regions.c"
    gcc $flags -shared -o clock.so clock.o regions.o "$TOP/bench/watch/settle.c"
    quipu-cc --quipu=watch $flags -c "$TOP/bench/watch/settle.c"
    quipu-cc --quipu=watch -shared -o regions.so clock.o regions.o settle.o'''


def directory():
    """Where the objects are."""
    return os.path.join(WORK, 'clock')


def build_clock():
    """The objects: clock.so for the twin, regions.so for what is built with --quipu=watch."""
    os.makedirs(directory(), exist_ok=True)
    path = os.path.join(BUILD, 'bin') + os.pathsep + os.environ['PATH']
    run_shell(BUILD_CLOCK, directory(), dict(os.environ, TOP=TOP, PATH=path))


class Clock:
    """The clock of one variant's runs: REGIONS is "COUNT PLACE" (clock.c), or None for a twin that
    reads no variable."""

    longest = LONGEST

    def __init__(self, regions):
        self.regions = regions
        self.log = os.path.join(WORK, 'clock', 'log')

    def environment(self):
        """What the program needs besides its own."""
        is_twin = not self.regions or self.regions.endswith(' read')
        library = 'clock.so' if is_twin else 'regions.so'
        extra = {'BENCH_REGIONS': self.regions} if self.regions else {}
        return dict(extra, BENCH_CLOCK=self.log, LD_PRELOAD=os.path.join(directory(), library))

    def begin(self):
        """In front of a command."""
        if os.path.exists(self.log):
            os.remove(self.log)

    def seconds(self, process):
        """What the command took that was process PROCESS."""
        lines = []
        if os.path.exists(self.log):
            with open(self.log, encoding='ascii') as file:
                lines = [line.split() for line in file]
        for pid, seconds, hits in lines:
            if int(pid) == process and hits != '0':
                raise Failed(f'{hits} writes hit regions that nobody writes to')
            if int(pid) == process:
                return float(seconds)
        raise Failed('the program did not come to its end, or not by exit')
