#!/usr/bin/env python3
"""add_contexts.py DATA TREE [DAMAGE]: gives the data file DATA, of a program that has ended, calling
contexts.

It needs nothing of quipu's but the format: the header's size, the first module's path and load bias,
and chunks of kind 3.  TREE is JSON: a list of threads,
    {"thread": ordinal, "owner": thread id, "flags": 0 to 3, "capacity": nodes of a chunk,
     "now": what the thread has counted, "nodes": [[parent, site, callee, calls, inclusive, exclusive]]}
where node 0, the root, is not in the list, a parent is the number of a node, a callee is a symbol, and a site "caller:callee:n", its n-th call of callee from 0, or a number
that is taken as an address at run time.  DAMAGE is Python that may change `nodes`, a list of lists of
numbers as they are written, and `head`, a dictionary, of the first chunk.
"""
import json
import re
import struct
import subprocess
import sys

PAGE = 4096
CELL = 2048  # offset of numbers that no one changes, which stand in for the thread's count


def read_module(data):
    """Path and load bias of the first module."""
    kind, _, _, _, _, bias = struct.unpack_from('<IIQQQQ', data, PAGE)
    assert kind == 1
    return data[PAGE + 80:2 * PAGE].split(b'\0')[0].decode(), bias


def read_symbols(path):
    output = subprocess.run(['nm', path], check=True, capture_output=True, text=True).stdout
    return {name: int(address, 16)
            for address, name in re.findall(r'^([0-9a-f]+) [tTwW] (\S+)$', output, re.MULTILINE)}


def read_calls(path):
    """Addresses behind the calls, by 'caller:callee'."""
    output = subprocess.run(['objdump', '-d', '--no-show-raw-insn', path], check=True,
                            capture_output=True, text=True).stdout
    calls, caller, pending = {}, None, None
    for line in output.splitlines():
        if match := re.match(r'[0-9a-f]+ <(\S+)>:$', line):
            caller, pending = match[1], None
        elif match := re.match(r' +([0-9a-f]+):\t(?:call +[0-9a-f]+ <([^>]*)>)?', line):
            if pending:
                calls.setdefault(f'{caller}:{pending}', []).append(int(match[1], 16))
            pending = match[2]
    return calls


def main():
    path, tree = sys.argv[1], json.loads(sys.argv[2])
    with open(path, 'rb') as file:
        data = file.read()
    size = struct.unpack_from('<Q', data, 16)[0]
    cell = sum(struct.unpack_from('<4Q', data, CELL))
    data = bytearray(data[:size])
    binary, bias = read_module(data)
    symbols, calls = read_symbols(binary), read_calls(binary)

    def site(name):
        if not isinstance(name, str):
            return name
        call, number = name.rsplit(':', 1)
        return calls[call][int(number)] + bias

    damage = sys.argv[3] if len(sys.argv) > 3 else ''
    for thread in tree:
        nodes = [[0] * 6] + [
            [parent + 1, site(place), symbols[callee] + bias, count, inclusive, exclusive]
            for parent, place, callee, count, inclusive, exclusive in thread['nodes']]
        capacity = thread['capacity']
        for first in range(0, len(nodes), capacity):
            part = nodes[first:first + capacity]
            length = -(-(64 + 64 * capacity) // PAGE) * PAGE
            head = {'kind': 3, 'size': length, 'owner': thread['owner'], 'count': len(part),
                    'capacity': capacity, 'flags': thread['flags'], 'thread': thread['thread'],
                    'first_index': first, 'events_base': thread['now'] - cell,
                    'events_cell': CELL}
            if not first:
                exec(damage, {'head': head, 'nodes': part})
            chunk = struct.pack('<IIQIIIIQQQQ', head['kind'], 0, head['size'], head['owner'],
                                head['count'], head['capacity'], head['flags'], head['thread'],
                                head['first_index'], head['events_base'] % 2**64,
                                head['events_cell'])
            for parent, place, callee, count, inclusive, exclusive in part:
                chunk += struct.pack('<I4xQQQQIIQ8x', parent, place, callee, count,
                                     inclusive % 2**64, 0, 0, exclusive)
            data += chunk + bytes(length - len(chunk))
    struct.pack_into('<Q', data, 16, len(data))
    with open(path, 'wb') as file:
        file.write(data)


main()
