"""A user at a terminal: gdb on the recording run.rec, interrupted by the keyboard."""
import os
import pty
import select
import sys
import time

process, terminal = pty.fork()
if process == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp('quipu', ['quipu', 'replay', 'run.rec'])
shown = b''


def awaits(text, seconds=60):
    """Waits until TEXT is shown, and forgets what is in front of it."""
    global shown
    end = time.time() + seconds
    while text not in shown:
        ready = select.select([terminal], [], [], max(0, end - time.time()))[0]
        if not ready:
            sys.exit(f'no {text!r} behind: {shown[-800:]!r}')
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            sys.exit(f'gdb has ended, without {text!r}: {shown[-800:]!r}')
    shown = shown[shown.index(text) + len(text):]


def types(line):
    awaits(b'(gdb) ')
    os.write(terminal, line + b'\n')


def interrupts():
    awaits(b'Continuing')
    time.sleep(0.5)
    os.write(terminal, b'\x03')
    awaits(b'SIGINT')


types(b'set pagination off')
types(b'set confirm off')
types(b'continue')
interrupts()
types(b'watch turns if turns < 0')
types(b'continue')
interrupts()
types(b'delete')
types(b'continue')
awaits(b'has ended here with status 0')
types(b'quit')
status = os.waitpid(process, 0)[1]
if status:
    sys.exit(f'quipu has ended with {status}')
