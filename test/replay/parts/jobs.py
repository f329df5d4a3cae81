# jobs.py COMMAND...: a shell at a terminal, with jobs.  COMMAND is a shell, or one that starts it.  Ends with an error
# if the shell does not say what is awaited, and with its status otherwise.
import os
import pty
import select
import sys
import time

PATIENCE = 60

process, terminal = pty.fork()
if process == 0:
    os.environ.update(PS1='ready> ', TERM='dumb', HISTFILE='/dev/null')
    os.execvp(sys.argv[1], sys.argv[1:])

shown = b''


def await_text(text):
    """Reads up to TEXT."""
    global shown
    end = time.time() + PATIENCE
    while text.encode() not in shown:
        ready = select.select([terminal], [], [], 1)[0]
        try:
            shown += os.read(terminal, 4096) if ready else b''
        except OSError:
            end = 0
        if time.time() > end:
            sys.exit(f'no {text!r} behind the text before in {shown!r}')
    shown = shown[shown.index(text.encode()) + len(text):]


def say(words):
    os.write(terminal, words.encode())


def await_job():
    """Waits until a job has the terminal."""
    end = time.time() + PATIENCE
    while os.tcgetpgrp(terminal) == shell:
        time.sleep(0.01)
        if time.time() > end:
            sys.exit('the job does not get the terminal')


def is_stopped(text):
    await_text('Stopped')
    await_text(text)
    await_text('ready> ')


await_text('ready> ')
shell = os.tcgetpgrp(terminal)
say('cat\n')
await_job()
say('hello\n')
await_text('hello\r\nhello')
say('\x1a')
is_stopped('cat')
say('fg\n')
await_text('cat')
await_job()
say('again\n')
await_text('again\r\nagain')
say('\x04')
await_text('ready> ')
say('sleep 100 &\n')
await_text('ready> ')
say('kill -STOP %1; while [[ $(jobs) != *Stopped* ]]; do :; done; jobs\n')
is_stopped('sleep 100')
say('bg; jobs\n')
await_text('Running')
await_text('ready> ')
say('kill %1; wait; echo "$?" is it\n')
await_text('0 is it')
await_text('ready> ')
say('cat &\n')
await_text('ready> ')
say('while [[ $(jobs) != *Stopped* ]]; do :; done; fg\n')
await_job()
say('more\n')
await_text('more\r\nmore')
say('\x03')
await_text('ready> ')
say('echo "$?" is it\n')
await_text('130 is it')
say('exit 3\n')
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
