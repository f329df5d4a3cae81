"""Goes backwards in a recording of vectors.c, from places that were come to on other ways.

    vectors.py RECORDING BETWEEN

The instruction at BETWEEN comes in front of each call that binds a function.
"""
import sys

from client import Client

TURNS = 2
SAVE = '0fc764'  # xsavec
STEPS = 100      # from BETWEEN to it


def expect(request, address):
    answer = client.ask(request)
    if not answer.startswith('T05') or client.address() != address:
        raise SystemExit(f"'{request}' stops at {client.address():x}, not {address:x}: {answer}")


def find_places(between):
    """Two places in the loader: directly behind it has saved vectors, and the function it calls then."""
    client.ask(f'Z0,{between:x},1')
    expect('c', between)
    client.ask(f'z0,{between:x},1')
    for _ in range(STEPS):
        client.ask('s')
        if client.memory(client.address(), 3).hex() == SAVE:
            break
    else:
        return []
    client.ask('s')
    places = [client.address()]
    while client.memory(client.address(), 1) != b'\xe8':
        client.ask('s')
    client.ask('s')
    return [*places, client.address()]


def go_both_ways(between, place):
    """Forwards it stops at PLACE only, backwards also between."""
    client.monitor('goto begin')
    while client.address() != between:
        client.ask('c')
    client.ask(f'z0,{between:x},1')
    client.ask(f'Z0,{place:x},1')
    seen = []
    for _ in range(TURNS):
        expect('c', place)
        seen.append(client.registers())
    client.ask(f'Z0,{between:x},1')
    for turn in range(TURNS - 1, -1, -1):
        if client.registers() != seen[turn]:
            raise SystemExit(f'turn {turn}: other registers backwards')
        expect('bc', between)
        if turn:
            expect('bc', place)
    client.ask(f'z0,{place:x},1')


client = Client(sys.argv[1]).start()
address = int(sys.argv[2], 16)
found = find_places(address)
client.ask(f'Z0,{address:x},1')
for at in found:
    go_both_ways(address, at)
if client.end() != 0:
    raise SystemExit(client.messages)
print(f'{len(found)} places')
