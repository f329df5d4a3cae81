#!/bin/bash
# The README's commands, in their order and as they stand there, do what it shows: each line of output
# comes, with numbers of this machine's.  What needs a terminal, or a program that is not among the
# examples, is left out.  What is shown is gcc 12's code: with another one, only errors are looked for.
set -uo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
ln -s "$top/examples" "$top/doc" .
exec python3 - "$top/README.md" <<'EOT'
import fnmatch
import re
import subprocess
import sys

NOT_HERE = re.compile(r'prog\.c|\./prog\b|--pid=|^make |^PATH=')
GDB = re.compile('quipu (goto|replay)')  # their output there is gdb's, at a terminal


def plain(line):
    line = re.sub(r'0x[0-9a-f]+|~[0-9a-f]{8}|-?\d+(\.\d+)?%?', 'N', line.rstrip('\n'))
    return re.sub(r'\s+', ' ', line).strip()


def pattern(line):
    """A line that is cut ends with ...; fnmatch's own brackets stand for themselves."""
    return re.sub(r'[\[\]?*]', lambda found: f'[{found[0]}]', plain(line)).replace('...', '*')


def commands(path):
    """Yields each command of the README and the lines that it shows behind it."""
    command, shown = None, []
    for line in open(path):
        if line.startswith('    $ '):
            if command:
                yield command, shown
            command, shown = line[6:].split('  #')[0].strip(), []
        elif line.startswith('    ') and command:
            shown.append(line)
        elif command and line.strip():
            yield command, shown
            command = None


version = subprocess.run(['gcc', '-dumpversion'], stdout=subprocess.PIPE, text=True, check=True).stdout
as_shown = version.split('.')[0].strip() == '12'
wrong, run = [], 0
for command, shown in commands(sys.argv[1]):
    if NOT_HERE.search(command):
        continue
    run += 1
    done = subprocess.run(['bash', '-c', command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace')
    came = [plain(line) for line in done.stdout.splitlines()]
    if 'quipu: error:' in done.stdout and 'VIOLATION' not in done.stdout:
        wrong.append(f'$ {command}\n{done.stdout}')
    if GDB.search(command) or not as_shown:
        continue
    for line in shown:
        if line.strip() != '...' and not any(fnmatch.fnmatchcase(text, pattern(line)) for text in came):
            wrong.append(f'$ {command}\nnot there: {line.strip()}\nbut: {done.stdout[:2000]}')
if run < 10:
    wrong.append(f'only {run} commands were found')
print('\n'.join(wrong))
sys.exit(bool(wrong))
EOT
