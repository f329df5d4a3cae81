"""Runs commands and takes their processor time.

The time is user plus system time of the process and the children it waited for, as the kernel
gives it to wait4.  Time in which others have the processor is not in it; what others do to caches
and clock is.
"""
import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time

from places import Failed

LONGEST = 1800  # seconds for one command


class Command:
    """A command of a workload; paths are relative to the directory of the run.

    output: name of the file under out/ that takes standard output.
    environment: what it has besides the harness's own.
    """

    def __init__(self, words, output, stdin='/dev/null', environment=None):
        self.words, self.output, self.stdin = words, output, stdin
        self.environment = environment or {}


def run_command(command, words, directory, environment, clock=None, elapsed=False):
    """Seconds of processor time of COMMAND, run as WORDS.  Failed on any status but 0.  CLOCK: takes
    the time in the program itself (armed.Clock).  ELAPSED: by the clock on the wall."""
    longest = LONGEST
    if clock:
        clock.begin()
        environment = {**environment, **clock.environment()}
        longest = clock.longest
    stdin = os.path.join(directory, command.stdin)
    stdout = os.path.join(directory, 'out', command.output)
    with open(stdin, 'rb') as source, open(stdout, 'wb') as sink, \
            open(os.path.join(directory, 'messages'), 'w+b') as messages:
        begin = time.monotonic()
        process = subprocess.Popen(words, cwd=directory, stdin=source,
                                   env={**environment, **command.environment}, stdout=sink,
                                   stderr=messages, start_new_session=True)
        timer = threading.Timer(longest, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read(2000).decode('utf-8', 'replace')
    if process.returncode:
        late = f', perhaps for it took more than {longest} s' if process.returncode == -9 else ''
        raise Failed(f"{' '.join(words)}\nexit status {process.returncode}{late}\n{text}")
    if clock:
        return clock.seconds(process.pid)
    return seconds if elapsed else usage.ru_utime + usage.ru_stime


def digest(directory):
    """One hash over the names and contents of all files there."""
    total = hashlib.sha256()
    for name in sorted(os.listdir(directory)):
        total.update(name.encode() + b'\0')
        with open(os.path.join(directory, name), 'rb') as file:
            total.update(hashlib.sha256(file.read()).digest())
    return total.hexdigest()


def run_workload(commands, directory, wrap=(), keep=None, clock=None, elapsed=False):
    """Runs COMMANDS one after the other in a fresh DIRECTORY.  Returns (seconds, digest of all
    output).  KEEP: directory for quipu's data, instead of one that goes.  CLOCK, ELAPSED: as of
    run_command.

    What runs is a fresh copy of the program, under the same path for all: neither the length of a
    path nor the pages that a file happens to lie in favour a variant.  Data that is kept names the
    program's own file."""
    shutil.rmtree(directory, ignore_errors=True)
    for name in ('out', 'data'):
        os.makedirs(os.path.join(directory, name))
    data = os.path.join(directory, 'data')
    environment = dict(os.environ, LC_ALL='C', QUIPU_DATA=keep or data, GCOV_PREFIX=data,
                       LLVM_PROFILE_FILE=os.path.join(data, 'data.profraw'))
    seconds = 0
    program = os.path.join(directory, 'program')
    shutil.copy(commands[0].words[0], program)
    for command in commands:
        words = command.words if keep else [program, *command.words[1:]]
        seconds += run_command(command, [*wrap, *words], directory, environment, clock, elapsed)
    total = digest(os.path.join(directory, 'out'))
    shutil.rmtree(directory)
    return seconds, total
