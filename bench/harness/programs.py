"""The real programs: Debian source packages, built at -O2 -g by what their own makefiles do.

Their runs take about half a second: on a machine that others use too, many short runs meet more
quiet moments than few long ones.  A tree is fetched and configured once, with plain gcc; every build starts from a copy of it, so all
variants have one configuration and only the compiler differs.
"""
import os
import shutil
import subprocess

import inputs
from measure import Command
from places import TOP, WORK, Failed, run_shell
from variants import GCC

FLAGS = '-O2 -g'


def link_compilers():
    """A directory with the compilers that trees are configured with: plain gcc's."""
    directory = os.path.join(WORK, 'compilers', 'configure')
    os.makedirs(directory, exist_ok=True)
    for language, compiler in GCC.items():
        link = os.path.join(directory, f'bench-{language}')
        if shutil.which(compiler) and not os.path.lexists(link):
            os.symlink(shutil.which(compiler), link)
    return directory


class Program:
    """A row of PROGRAMS.

    prepare, build: shell, run at the top of the tree; $FLAGS holds the flags.  The compilers are
    bench-cc, bench-c++ and bench-fortran.
    binary: path in the tree.
    languages: keys of GCC whose compilers it needs.
    variants: names of those that it is measured in; None for all.
    built: paths of what was built in this session, by variant.
    commands: function (binary, small) -> [Command].
    """

    kind = 'program'
    variants = None

    def __init__(self, name, package, binary, commands, build, prepare='',
                 languages=('cc',)):
        self.name = self.title = name
        self.package, self.binary, self.commands = package, binary, commands
        self.languages = languages
        self.build_script, self.prepare_script = build, prepare
        self.tree = os.path.join(WORK, 'trees', name, 'base')
        self.built = {}

    def prepare(self):
        """Fetches and configures, once.  Sets the title with the package's version."""
        fetch = [os.path.join(TOP, 'scripts', 'fetch-source'), os.path.join(WORK, 'source'),
                 self.package]
        done = subprocess.run(fetch, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(done.stderr.strip())
        _, version, source = done.stdout.strip().split(' ', 2)
        self.title = f"{self.name} {version.split(':')[-1].split('-')[0]}"
        recipe = f'{version}\n{self.prepare_script}\n'
        stamp = self.tree + '.recipe'
        if os.path.exists(stamp):
            with open(stamp, encoding='utf-8') as file:
                if file.read() == recipe:
                    return
        draft = self.tree + '.draft'
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(source, draft, symlinks=True)
        path = link_compilers() + os.pathsep + os.environ['PATH']
        run_shell(self.prepare_script, draft,
                  dict(os.environ, LC_ALL='C', FLAGS=FLAGS, PATH=path, M4=inputs.copier()))
        shutil.rmtree(self.tree, ignore_errors=True)
        os.rename(draft, self.tree)
        with open(stamp, 'w', encoding='utf-8') as file:
            file.write(recipe)

    def build(self, variant, environment):
        """Builds in a fresh copy of the tree; returns the binary's path."""
        tree = os.path.join(WORK, 'trees', self.name, variant.name.replace(' ', '-'))
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.tree, tree, symlinks=True)
        run_shell(self.build_script, tree, dict(environment, FLAGS=FLAGS))
        self.built[variant.name] = os.path.join(tree, self.binary)
        return self.built[variant.name]

    def workload(self, binary, small):
        """The commands of one run."""
        return self.commands(binary, small)


def run_lua(binary, small):
    return [Command([binary, inputs.workload('mix.lua'), '15' if small else '30'], 'checksums')]


def run_bzip2(binary, small):
    return [Command([binary, '-9'], 'packed', inputs.text(2 if small else 7)),
            Command([binary, '-d'], 'unpacked', 'out/packed')]


def run_zlib(binary, small):
    return [Command([binary, '-9'], 'packed', inputs.text(2 if small else 7)),
            Command([binary, '-d'], 'unpacked', 'out/packed')]


def run_lz4(binary, small):
    text = inputs.text(4 if small else 12)
    return [Command([binary, '-1'], 'fast', text), Command([binary, '-9'], 'packed', text),
            Command([binary, '-d'], 'unpacked', 'out/packed')]


def run_sqlite(binary, small):
    return [Command([binary, ':memory:'], 'answers', inputs.sql(40000 if small else 200000))]


def run_grep(binary, small):
    texts = [inputs.text(4)] if small else [inputs.text(20)] * 3
    patterns = [['-cE', '[a-z]+Z'], ['-nE', '(tin|ore)[a-z]*[0-9]'],
                ['-cw', '[a-e]*[r-t][aeiou]*'], ['-ciE', '(sea|tor)[aeiou]+.*[0-9]z'],
                ['-ohE', '[0-9]+Z[0-9]+']]
    return [Command([binary, *pattern, *texts], f'lines-{number}')
            for number, pattern in enumerate(patterns)]


def run_flex(binary, small):
    grammar = inputs.grammar(11 if small else 12)
    return [Command([binary, table, '-t', grammar], 'scanner' + table,
                    environment={'M4': inputs.copier()}) for table in ('-Cfe', '-Cem', '-Cf')]


def run_groff(binary, small):
    tree = os.path.dirname(binary)
    pages = [os.path.join(tree, 'man', page) for page in ('groff.7.man', 'groff_diff.7.man')]
    return [Command([binary, '-Tps', '-F', os.path.join(tree, 'font'), '-M',
                     os.path.join(tree, 'tmac'), '-man', *pages * (3 if small else 10)], 'pages')]


def run_blas(binary, small):
    return [Command([binary], 'messages', inputs.blas([5, 9, 17] if small else [3, 9, 17, 31, 60]))]


PROGRAMS = [
    Program('lua', 'lua5.4', 'src/lua', run_lua, '''
        cd src
        for file in l*.c; do
            [ $file = luac.c ] ||
                bench-cc -std=gnu99 $FLAGS -DLUA_COMPAT_5_3 -DLUA_USE_LINUX -c $file
        done
        bench-cc $FLAGS -o lua *.o -Wl,-E -lm -ldl''', '''
        multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
        printf '#define DEB_HOST_MULTIARCH "%s"\\n' $multiarch >src/lua5.4-deb-multiarch.h'''),
    Program('bzip2', 'bzip2', 'bzip2', run_bzip2, '''
        make CC=bench-cc CFLAGS="$FLAGS -D_FILE_OFFSET_BITS=64" libbz2.a bzip2.o
        bench-cc $FLAGS -o bzip2 bzip2.o libbz2.a'''),
    Program('minigzip', 'zlib', 'minigzip', run_zlib, 'make minigzip',
            'CC=bench-cc CFLAGS="$FLAGS" ./configure --static'),
    Program('lz4', 'lz4', 'programs/lz4', run_lz4, '''
        make -C lib liblz4.a CC=bench-cc CFLAGS="$FLAGS"
        make -C programs lz4 CC=bench-cc CFLAGS="$FLAGS" LDFLAGS=-L../lib'''),
    Program('sqlite3', 'sqlite3', 'sqlite3', run_sqlite, '''
        bench-cc $FLAGS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_MATH_FUNCTIONS \\
            -DSQLITE_OMIT_LOAD_EXTENSION shell.c sqlite3.c -o sqlite3 -lm''',
            './configure --disable-tcl --disable-readline CC=gcc && make sqlite3.c shell.c'),
    Program('grep', 'grep', 'src/grep', run_grep, 'make -C lib && make -C src grep', '''
        sed -i 's/^ *stray_backslash:$/&;/' lib/dfa.c # clang wants a statement after a label
        ./configure CC=bench-cc CFLAGS="$FLAGS" --disable-nls --disable-perl-regexp'''),
    Program('flex', 'flex', 'src/stage1flex', run_flex, 'make -C src stage1flex', '''
        ./configure CC=bench-cc CFLAGS="$FLAGS" --disable-nls --disable-shared \\
            ac_cv_path_M4="$M4"'''),
    Program('groff', 'groff', 'troff', run_groff, 'make troff', '''
        ./configure CC=bench-cc CXX=bench-c++ CFLAGS="$FLAGS" CXXFLAGS="$FLAGS" --without-x
        printf 'sources: $(BUILT_SOURCES) font/devps/DESC tmac/www.tmac\\n' >sources.mk
        make -f Makefile -f sources.mk sources''', languages=('cc', 'c++')),
    Program('blas', 'lapack', 'BLAS/TESTING/xblat3d', run_blas,
            'make -C BLAS/SRC double && make -C BLAS/TESTING xblat3d', '''
        sed "s/^FC *=.*/FC = bench-fortran/; s/^FFLAGS *=.*/FFLAGS = $FLAGS -frecursive/" \\
            make.inc.example >make.inc''', languages=('fortran',)),
]
