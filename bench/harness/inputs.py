"""What the real programs work on: generated, the same everywhere, kept in the build directory."""
import itertools
import os
import random

from places import WORK, WORKLOADS


def workload(name):
    """The path of a file in bench/workloads."""
    return os.path.join(WORKLOADS, name)


def keep(name, write, fresh=False):
    """The path of the input NAME; WRITE(file) makes it where it is not there, or FRESH is set."""
    path = os.path.join(WORK, 'inputs', name)
    if fresh or not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + '.draft', 'w', encoding='ascii') as file:
            write(file)
        os.rename(path + '.draft', path)
    return path


def make_words(choice, count):
    """COUNT words of two to five syllables."""
    syllables = [a + b for a in ('b', 'ch', 'd', 'k', 'l', 'm', 'n', 'r', 's', 't', 'w', '')
                 for b in ('a', 'e', 'ea', 'i', 'in', 'o', 'or', 'u', 'er')]
    return [''.join(choice.choices(syllables, k=choice.choice((1, 2, 2, 3, 3, 4))))
            for _ in range(count)]


def text(megabytes):
    """Lines of words by Zipf's law, numbers, capitals, and codes with a Z in most of them."""
    def write(file):
        choice = random.Random(megabytes)
        words = make_words(choice, 20000)
        weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
        size = 0
        while size < megabytes << 20:
            line = choice.choices(words, cum_weights=weights, k=12)
            line[0] = line[0].capitalize()
            line.insert(choice.randrange(12), f'{choice.randrange(10000)}Z{choice.randrange(100)}')
            if choice.random() < 0.02:
                line[3] += 'Z'
            if choice.random() < 0.05:
                line[5] += str(choice.randrange(10))
            joined = ' '.join(line) + '\n'
            file.write(joined)
            size += len(joined)
    return keep(f'text-{megabytes}', write)


def needle():
    """One line that every pattern finds: grep that finds nothing ends with status 1."""
    return keep('needle', lambda file: file.write('aZZZ\n'))


def sql(rows):
    """The SQL workload for so many orders."""
    def write(file):
        with open(workload('shop.sql'), encoding='utf-8') as source:
            file.write(source.read().replace('@ROWS@', str(rows)))
    return keep(f'shop-{rows}.sql', write, fresh=True)


def grammar(depth):
    """A scanner description: keywords, the tokens of a language like C, and one rule whose
    automaton has 2**DEPTH states."""
    def write(file):
        choice = random.Random(depth)
        file.write('%option noyywrap\nD [0-9]\nL [A-Za-z_]\n%x COMMENT\n%%\n')
        for number, word in enumerate(sorted(set(make_words(choice, 300)))):
            file.write(f'"{word}" return {number + 1000};\n')
        file.write(f'#[ab]*a[ab]{{{depth}}}c return 7;\n')
        file.write('{L}({L}|{D})* return 1;\n{D}+([uUlL]{0,3}) return 2;\n'
                   '0[xX][0-9a-fA-F]+ return 3;\n{D}+"."{D}*([eE][-+]?{D}+)? return 4;\n'
                   '\\"([^"\\\\\\n]|\\\\.)*\\" return 5;\n"/*" BEGIN(COMMENT);\n'
                   '<COMMENT>"*/" BEGIN(INITIAL);\n<COMMENT>.|\\n ;\n[ \\t\\n]+ ;\n. return 6;\n'
                   '%%\nint main(void) { while (yylex()) ; return 0; }\n')
    return keep(f'grammar-{depth}.l', write)


def copier():
    """A program in m4's place that copies: flex pipes its scanner through m4, and the time that m4
    takes is not flex's."""
    path = keep('copier', lambda file: file.write('#!/bin/sh\nexec cat\n'))
    os.chmod(path, 0o755)
    return path


def blas(sizes):
    """What the test program of the level 3 BLAS reads: all routines, for matrices of SIZES."""
    def write(file):
        file.write("'out/dblat3.out' /\n6 /\n'snapshots' /\n-1 /\nF /\nF /\nT /\n16.0 /\n")
        for values in (sizes, [0.0, 1.0, 0.7], [0.0, 1.0, 1.3]):
            file.write(f"{len(values)} /\n{' '.join(map(str, values))} /\n")
        for routine in ('DGEMM', 'DSYMM', 'DTRMM', 'DTRSM', 'DSYRK', 'DSYR2K'):
            file.write(f'{routine:6} T\n')
    return keep(f"blas-{'-'.join(map(str, sizes))}", write)
