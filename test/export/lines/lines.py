"""Compares the line of each instruction of binaries with what addr2line says.

    lines.py LINE_OF BINARY...
    lines.py --report=REPORT BINARY

LINE_OF is the program made of line_of.c; REPORT is a report of BINARY by instruction, in JSON, and only
what it has is compared.  There are two oracles, GNU's addr2line and LLVM's; each has faults of its own.
So a line must be that of one of them.  Where linkers have folded functions into one (ICF), each of them
tells of lines, all of them true, and either oracle picks one: there the line must be that of one of
the sequences, at least two, that the line tables have of the place, by llvm-dwarfdump.
Prints for each binary how many instructions there are, how many of them have lines, and the
faults; ends with status 1 where there are some.
"""
import json
import os
import re
import subprocess
import sys

SHOWN = 8
TOOLS = {'gnu': 'addr2line', 'llvm': os.environ.get('LLVM_ADDR2LINE', 'llvm-addr2line'),
         'dwarfdump': os.environ.get('LLVM_DWARFDUMP', 'llvm-dwarfdump')}


def output(command, text=''):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def addresses_of(binary):
    """Of all instructions, as objdump finds them."""
    listing = output(['objdump', '-d', '--no-show-raw-insn', '-w', binary])
    return re.findall(r'^ +([0-9a-f]+):\t', listing, re.MULTILINE)


def as_input(addresses):
    return ''.join(f'0x{address}\n' for address in addresses)


def read_lines(text):
    """(file, line) each; ('', 0) where the line is not known."""
    found = []
    for row in text.splitlines():
        match = re.match(r'(.*):(\d+)(?: \(discriminator \d+\))?$', row)
        known = match and match[1] != '??' and match[2] != '0'
        found.append((os.path.normpath(match[1]), int(match[2])) if known else ('', 0))
    return found


def lines_by_program(line_of, binary):
    """All addresses of code in BINARY, and the lines that LINE_OF tells."""
    addresses = addresses_of(binary)
    return addresses, read_lines(output([line_of, binary], as_input(addresses)))


def lines_in_report(report):
    """The same of the instructions that a report has; those that only pad have no address."""
    with open(report, encoding='utf-8') as file:
        rows = [row for row in json.load(file)['instructions'] if row.get('address')]
    return ([f"{row['address']:x}" for row in rows],
            [(os.path.normpath(row['file']), row['line']) if row.get('line') else ('', 0) for row in rows])


def read_sequences(binary):
    """All sequences of the line tables: lists of (address, file's name, line), the end among them."""
    sequences, rows, names = [], [], {}
    for row in output([TOOLS['dwarfdump'], '--debug-line', binary]).splitlines():
        if row.startswith('debug_line['):
            names, rows = {}, []
        elif match := re.match(r'file_names\[ *(\d+)\]:', row):
            number = int(match[1])
        elif match := re.match(r' +name: "(.*)"', row):
            names[number] = os.path.basename(match[1])
        elif match := re.match(r'0x([0-9a-f]+) +(\d+) +\d+ +(\d+) ', row):
            rows.append((int(match[1], 16), names.get(int(match[3])), int(match[2])))
            if row.endswith('end_sequence'):
                sequences.append(rows)
                rows = []
    return sequences


def is_folded(sequences, address, line):
    """Whether two sequences or more tell of ADDRESS, and one of them of LINE."""
    address = int(address, 16)
    told = [[row for row in rows if row[0] <= address][-1] for rows in sequences
            if rows[0][0] <= address < rows[-1][0]]
    return len(told) > 1 and (os.path.basename(line[0]), line[1]) in [row[1:] for row in told]


def compare(binary, addresses, ours):
    """The number of faults in one binary."""
    text = as_input(addresses)
    oracles = [read_lines(output([tool, '-e', binary], text))
               for tool in (TOOLS['gnu'], TOOLS['llvm'])]
    assert all(len(each) == len(addresses) for each in [ours] + oracles), 'not a line for each'
    faults = [(address, our, theirs) for address, our, *theirs in zip(addresses, ours, *oracles)
              if our not in theirs]
    different = len(faults)
    if faults:
        sequences = read_sequences(binary)
        faults = [fault for fault in faults if not is_folded(sequences, *fault[:2])]
    apart = sum(gnu != llvm for gnu, llvm in zip(*oracles))
    known = sum(line > 0 for _, line in ours)
    print(f'{os.path.basename(binary)}: {len(addresses)} instructions, {known} with lines, '
          f'{different - len(faults)} of folded code, {len(faults)} wrong; the oracles differ in {apart}')
    for address, our, theirs in faults[:SHOWN]:
        print(f'    {address}: {our}, oracles {theirs}')
    return len(faults)


def main():
    if sys.argv[1].startswith('--report='):
        faults = compare(sys.argv[2], *lines_in_report(sys.argv[1].split('=', 1)[1]))
    else:
        faults = sum(compare(binary, *lines_by_program(sys.argv[1], binary)) for binary in sys.argv[2:])
    sys.exit(faults > 0)


main()
