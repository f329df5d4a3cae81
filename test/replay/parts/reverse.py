"""Goes forwards and backwards in a recording, and compares all that it sees at each stop.

    reverse.py RECORDING SEED STOPS STEPS [ADDRESS]

Breakpoints are put at addresses that the program is at now and then, and at ADDRESS, of data.  Going forwards, registers and
stack are noted at each stop.  Going backwards, the same stops must come in the reverse order, with the
same registers and stack; and at some of them single steps, too.
"""
import random
import sys

from client import Client

recording, seed, stops, steps = sys.argv[1], *map(int, sys.argv[2:5])
random.seed(seed)
client = Client(recording).start()
ENDED = 'replaylog'
FLAGS = 17 * 16    # of the register of flags, in digits
BELOW = 128        # bytes of stack below its pointer
ABOVE = 384
RESTORE = '0fae6c2440'  # xrstor 64(%rsp), in the loader
CELL_FLAGS = 0x14  # parity and adjust: behind an addition of ticks they tell of its cell


def fail(text):
    client.end()
    raise SystemExit(f'{recording}, seed {seed}: {text}')


def look():
    """All registers, and the stack around its pointer."""
    stack = int.from_bytes(bytes.fromhex(client.ask('p7')), 'little')
    memory = client.ask(f'm{stack - BELOW:x},{BELOW + ABOVE:x}')
    registers = client.registers()
    flags = int.from_bytes(bytes.fromhex(registers[FLAGS:FLAGS + 8]), 'little') & ~CELL_FLAGS
    return registers[:FLAGS] + flags.to_bytes(4, 'little').hex() + registers[FLAGS + 8:], memory


def count_events():
    client.monitor('goto end')
    return int(client.monitor('when').split()[1].rstrip(','))


def choose_addresses(events):
    """Addresses at which the program is somewhere."""
    found = set()
    for _ in range(6):
        client.monitor(f'goto {random.randrange(events)}')
        for _ in range(random.randrange(1, 60)):
            client.ask('s')
        found.add(client.address())
    return sorted(found)


def same_stack():
    """So many digits of the stack are the same on all ways.  While the loader binds a function it has its
    vectors there, and which of them it stores depends on the way; so does what is left over of that."""
    if RESTORE in client.ask(f'm{client.address():x},80'):
        return 0
    stack = int.from_bytes(bytes.fromhex(client.ask('p7')), 'little')
    for at in range(stack // 64 * 64 + 64, stack + ABOVE, 64):
        caller = int.from_bytes(client.memory(at - 8, 8), 'little')
        if RESTORE in client.ask(f'm{caller:x},80'):
            return 2 * (at + 64 - stack + BELOW)
    return 2 * (BELOW + ABOVE)


def compare(what, was, now):
    if was == now or (was[0] == now[0] and was[1][:same_stack()] == now[1][:same_stack()]):
        return
    differing = [f'register {i // 16}: {was[0][i:i + 16]}, then {now[0][i:i + 16]}'
                 for i in range(0, len(was[0]), 16) if was[0][i:i + 16] != now[0][i:i + 16]]
    fail(f"{what}: {'; '.join(differing[:4]) or 'another stack'}")


def go(request):
    """A step.  In front of a signal the first 's' only tells of it."""
    answer = client.ask(request)
    while request == 's' and not answer.startswith('T05'):
        answer = client.ask(request)
    if not answer.startswith('T05'):
        fail(f"'{request}': {answer}")
    return answer


def step_both_ways(number):
    """Some steps back and the same ones forwards again, or the other way round."""
    first, second = random.choice([('bs', 's'), ('s', 'bs')])
    seen, answers = [look()], []
    for _ in range(steps):
        if ENDED in go(first):
            break
        seen.append(look())
    for was in reversed(seen[:-1]):
        answers.append(go(second))
        compare(f"stop {number}, '{second}' behind '{first}', {answers[-1]}", was, look())


events = count_events()
addresses = choose_addresses(events) + [int(text, 16) for text in sys.argv[5:]]
client.monitor('goto begin')
for address in addresses:
    client.ask(f'Z0,{address:x},1')
noted, answer = [], ''
while len(noted) < stops and ENDED not in answer:
    answer = client.ask('c')
    if answer.startswith('T') and ENDED not in answer:
        noted.append(look())
if len(noted) < 2:
    fail('it does not come to its breakpoints')
if len(noted) < stops:
    answer = client.ask('bc')
    compare('the last stop, from the end', noted[-1], look())
tried = 0
for number in range(len(noted) - 2, -1, -1):
    answer = client.ask('bc')
    if ENDED in answer:
        fail(f'no stop {number}: {answer}')
    compare(f'stop {number} of {len(noted)}', noted[number], look())
    if tried < 5 and random.randrange(len(noted)) < 8:
        tried += 1
        step_both_ways(number)
if 'replaylog:begin' not in client.ask('bc'):
    fail('one stop more than forwards')
if client.end() != 0:
    fail(client.messages)
print(f'{len(noted)} stops at {len(addresses)} addresses, {events} events, {tried} times stepped')
