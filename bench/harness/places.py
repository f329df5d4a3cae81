"""Where things are, and how a benchmark fails."""
import os
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('QUIPU_BUILD', os.path.join(TOP, 'build')))
WORK = os.path.join(BUILD, 'bench')
KERNELS = os.path.join(TOP, 'bench', 'kernels')
QUERIES = os.path.join(TOP, 'bench', 'queries')
WORKLOADS = os.path.join(TOP, 'bench', 'workloads')


class Failed(Exception):
    """A build or a run failed; the text says why."""


def run_shell(script, directory, environment):
    """Runs SCRIPT with sh in DIRECTORY; its output only where it fails."""
    done = subprocess.run(['sh', '-euc', script], cwd=directory, env=environment, text=True,
                          errors='replace', stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise Failed(f'exit status {done.returncode} of:\n{script.strip()}\n{done.stdout[-2000:]}')
    return done.stdout
