"""The C libraries that variants are linked with: musl, built by quipu libc for the same modes."""
import os

from places import BUILD, TOP, WORK, run_shell

FOLDER = os.path.join(WORK, 'libraries')


def library_of(modes):
    """The directory of the one for MODES."""
    return os.path.join(FOLDER, modes.replace(',', '-'))


def build_library(modes):
    """Builds it again: it is for this very quipu."""
    os.makedirs(FOLDER, exist_ok=True)
    sources = os.path.join(WORK, 'source')
    run_shell(f'"{TOP}/scripts/fetch-source" "{sources}" musl', FOLDER, os.environ)
    run_shell(f'"{BUILD}/bin/quipu" libc --build --quipu={modes} --source="{sources}/musl" '
              f'-o "{library_of(modes)}"', FOLDER, os.environ)
