"""Builds one program in several ways: plain, twin (--quipu=none), instrumented, and for watching.

Compilers by language and family.  A family is 'gcc' or 'clang'; each way is a list of words.
"""
import functools
import os
import shutil

from tools import BUILD, TOP, Skipped, run

LANGUAGES = {'.c': 'c', '.cc': 'c++', '.f90': 'fortran', '.s': 'c', '.S': 'c', '.d': 'd',
             '.adb': 'ada'}
PLAIN = {('gcc', 'c'): 'gcc', ('gcc', 'c++'): 'g++', ('gcc', 'fortran'): 'gfortran',
         ('gcc', 'd'): 'gdc', ('gcc', 'ada'): 'ada', ('clang', 'c'): 'clang',
         ('clang', 'c++'): 'clang++'}
OURS = {('gcc', 'c'): 'quipu-cc', ('gcc', 'c++'): 'quipu-c++', ('gcc', 'fortran'): 'quipu-fortran',
        ('gcc', 'd'): 'quipu-d', ('gcc', 'ada'): 'quipu-ada', ('clang', 'c'): 'quipu-clang',
        ('clang', 'c++'): 'quipu-clang++'}
WAYS = ('plain', 'twin', 'quipu')


FAMILY = os.environ.get('QUIPU_TEST_FAMILY', 'gcc')  # where a test names none
FLAGS = os.environ.get('QUIPU_TEST_FLAGS', '').split()  # behind each variant's own


@functools.lru_cache(maxsize=None)
def plain_compiler(family, language):
    """The command's name; None where it is not installed."""
    found = run([os.path.join(TOP, 'scripts', 'compilers'), PLAIN[family, language]])
    return found.out.strip() or None


class Variant:
    """A compiler family and its flags: 'clang -O2 -fPIC' or, with gcc understood, '-O2'."""

    def __init__(self, text):
        words = text.split()
        self.text = text
        named = bool(words) and not words[0].startswith('-')
        # clang's link-time optimization runs no assembler
        self.family = words.pop(0) if named else 'gcc' if '-flto' in words else FAMILY
        self.flags = words + FLAGS

    def key(self, language):
        """For the tables: gcc compiles what the family does not."""
        return (self.family if (self.family, language) in PLAIN else 'gcc', language)

    def missing(self, languages):
        """Names of compilers and of the linker that are not installed."""
        keys = [self.key(language) for language in languages]
        names = {PLAIN[key] for key in keys if not plain_compiler(*key)}
        linkers = ['ld.' + flag[9:] for flag in self.flags if flag.startswith('-fuse-ld=')]
        return sorted(names) + [name for name in linkers if not shutil.which(name)]

    def ours(self, language):
        """The path of our compiler, which runs the same one."""
        return os.path.join(BUILD, 'bin', OURS[self.key(language)])

    def compiler(self, way, language):
        """The command for WAY; Skipped where the compiler is not installed."""
        if self.missing([language]):
            raise Skipped(f"'{self.missing([language])[0]}' is not installed")
        if way == 'plain':
            return [plain_compiler(*self.key(language))]
        return [self.ours(language)] + \
            {'twin': ['--quipu=none'], 'watch': ['--quipu=watch']}.get(way, [])


def variants(options, default='-O2'):
    """The test's variants, by number, whose compilers are installed; tells of the others.  Skipped
    where there is none."""
    sources = [options.path] + options.words('with') + options.words('shared') + \
        options.words('program')
    languages = {language_of(source) for source in sources}
    there = []
    for number, text in enumerate(options.list('variants', default)):
        missing = Variant(text).missing(languages)
        if missing:
            print(f"skipped: variant {text!r}: {' '.join(missing)} not installed")
        else:
            there.append((number, Variant(text)))
    if not there:
        raise Skipped('no compiler for any variant')
    return there


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
