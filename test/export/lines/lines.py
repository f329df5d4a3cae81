"""Compares the line of each instruction of binaries with what addr2line says.

    lines.py LINE_OF BINARY...

LINE_OF is the program made of line_of.c.  There are two oracles, GNU's addr2line and LLVM's; each has
faults of its own, and where code was folded into one (ICF, COMDAT) several lines are true.  So a line
must be that of one of them; one that both know, alike, and quipu not, or the other way round, is a
fault.  Prints for each binary how many instructions there are, how many of them have lines, and the
faults; ends with status 1 where there are some.
"""
import os
import re
import subprocess
import sys

SHOWN = 8


def output(command, text=''):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def addresses_of(binary):
    """Of all instructions, as objdump finds them."""
    listing = output(['objdump', '-d', '--no-show-raw-insn', '-w', binary])
    return re.findall(r'^ +([0-9a-f]+):\t', listing, re.MULTILINE)


def read_lines(text):
    """(file, line) each; ('', 0) where the line is not known."""
    found = []
    for row in text.splitlines():
        match = re.match(r'(.*):(\d+)(?: \(discriminator \d+\))?$', row)
        known = match and match[1] != '??' and match[2] != '0'
        found.append((os.path.normpath(match[1]), int(match[2])) if known else ('', 0))
    return found


def compare(line_of, binary):
    """The number of faults in one binary."""
    addresses = addresses_of(binary)
    text = ''.join(f'0x{address}\n' for address in addresses)
    ours = read_lines(output([line_of, binary], text))
    oracles = [read_lines(output([tool, '-e', binary], text))
               for tool in ('addr2line', 'llvm-addr2line-14')]
    assert all(len(each) == len(addresses) for each in [ours] + oracles), 'not a line for each'
    faults = [(address, our, theirs) for address, our, *theirs in zip(addresses, ours, *oracles)
              if our not in theirs]
    apart = sum(gnu != llvm for gnu, llvm in zip(*oracles))
    known = sum(line > 0 for _, line in ours)
    print(f'{os.path.basename(binary)}: {len(addresses)} instructions, {known} with lines, '
          f'{len(faults)} wrong; the oracles differ in {apart}')
    for address, our, theirs in faults[:SHOWN]:
        print(f'    {address}: {our}, oracles {theirs}')
    return len(faults)


def main():
    sys.exit(any([compare(sys.argv[1], binary) for binary in sys.argv[2:]]))


main()
