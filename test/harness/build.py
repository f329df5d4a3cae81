"""Builds one program in several ways: plain, twin (--quipu=none), instrumented, and for watching.

Compilers by language and family.  A family is 'gcc' or 'clang'; each way is a list of words.
"""
import os
import shutil

from tools import BUILD, Failed, run

LANGUAGES = {'.c': 'c', '.cc': 'c++', '.f90': 'fortran', '.s': 'c', '.S': 'c', '.d': 'd',
             '.adb': 'ada'}
PLAIN = {('gcc', 'c'): 'gcc', ('gcc', 'c++'): 'g++', ('gcc', 'fortran'): 'gfortran',
         ('gcc', 'd'): 'gdc', ('gcc', 'ada'): 'gcc', ('clang', 'c'): 'clang-14',
         ('clang', 'c++'): 'clang++-14'}
OURS = {('gcc', 'c'): 'quipu-cc', ('gcc', 'c++'): 'quipu-c++', ('gcc', 'fortran'): 'quipu-fortran',
        ('gcc', 'd'): 'quipu-d', ('gcc', 'ada'): 'quipu-cc', ('clang', 'c'): 'quipu-clang',
        ('clang', 'c++'): 'quipu-clang++'}
WAYS = ('plain', 'twin', 'quipu')


class Variant:
    """A compiler family and its flags: 'clang -O2 -fPIC' or, with gcc understood, '-O2'."""

    def __init__(self, text):
        words = text.split()
        self.text = text
        self.family = words.pop(0) if words and not words[0].startswith('-') else 'gcc'
        self.flags = words

    def compiler(self, way, language):
        """The command for WAY; Failed where the compiler is not installed."""
        plain = PLAIN.get((self.family, language))
        if not plain or not shutil.which(plain):
            raise Failed(f"'{plain or self.family}': no such compiler here; 'make deps' installs it")
        if way == 'plain':
            return [plain]
        ours = [os.path.join(BUILD, 'bin', OURS[self.family, language])]
        return ours + {'twin': ['--quipu=none'], 'watch': ['--quipu=watch']}.get(way, [])


def language_of(source):
    """The language by the name's ending."""
    return LANGUAGES[os.path.splitext(source)[1]]


def compile_and_link(variant, way, sources, flags, libraries, output, directory):
    """Compiles SOURCES one by one and links them to OUTPUT in DIRECTORY.  Returns the objects, and
    what the compilers said."""
    objects, said = [], ''
    for source in sources:
        stem, ending = os.path.splitext(os.path.basename(source))
        objects.append(f'{stem}{"" if ending != ".s" else "_s"}.o')
        command = variant.compiler(way, language_of(source)) + flags + variant.flags
        said += run(command + ['-c', source, '-o', objects[-1]], cwd=directory, check=True).err
    language = language_of(sources[0])
    if language == 'ada':
        return objects, said + link_ada(variant, way, objects, output, directory)
    command = variant.compiler(way, language) + flags + variant.flags
    said += run(command + objects + ['-o', output] + libraries, cwd=directory, check=True).err
    return objects, said


def link_ada(variant, way, objects, output, directory):
    """Ada's binder writes the main program; gnatlink compiles it and links."""
    unit = objects[0][:-2]
    run(['gnatbind', '-x', unit + '.ali'], cwd=directory, check=True)
    compiler = variant.compiler(way, 'ada')
    return run(['gnatlink', unit + '.ali', '-o', output, f'--GCC={" ".join(compiler)}',
                f'--LINK={compiler[0]}'] + compiler[1:], cwd=directory, check=True).err
