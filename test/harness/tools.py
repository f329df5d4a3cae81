"""Where things are, and how a test runs other programs."""
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('QUIPU_BUILD', os.path.join(TOP, 'build')))
QUIPU = os.path.join(BUILD, 'bin', 'quipu')
STEP = os.path.join(BUILD, 'test', 'step')


SKIPPED = 77  # exit status of a test that what is installed cannot run


class Failed(Exception):
    """The test failed; the text says why."""


class Skipped(Exception):
    """Something is not installed; the text says what."""


def run(command, cwd=None, env=None, timeout=300, check=False, input=None):
    """Runs a command; returns it with status, stdout and stderr.  CHECK: failing is a failure."""
    merged = dict(os.environ)
    merged.update(env or {})
    done = subprocess.run(command, cwd=cwd, env=merged, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL if input is None else None, input=input,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.out = done.stdout.decode('utf-8', 'replace')
    done.err = done.stderr.decode('utf-8', 'replace')
    if check and done.returncode:
        raise Failed(f"{' '.join(command)}\nexit status {done.returncode}\n{done.out}{done.err}")
    return done


def main(test):
    """Runs TEST(path) on the one argument in the current directory; failure is exit status 1."""
    if len(sys.argv) != 2:
        raise SystemExit(f'usage: {sys.argv[0]} TEST')
    try:
        test(os.path.abspath(sys.argv[1]))
    except Failed as failure:
        print(failure)
        sys.exit(1)
    except Skipped as skipped:
        print(f'skipped: {skipped}')
        sys.exit(SKIPPED)
