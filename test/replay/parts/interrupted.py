"""Interrupts a recording now and then, and goes back from there and forwards again.

    interrupted.py RECORDING SEED TIMES STEPS

The registers must be the same, and each step is an instruction.
"""
import random
import sys
import time

from client import Client

recording, seed, times, steps = sys.argv[1], *map(int, sys.argv[2:5])
random.seed(seed)
client = Client(recording).start()


def fail(text):
    client.end()
    raise SystemExit(f'{recording}, seed {seed}: {text}')


def interrupt():
    """Goes on for a while.  Returns what the server says when it has stopped."""
    client.send('c')
    time.sleep(random.uniform(0.01, 0.2))
    client.send_raw(b'\x03')
    answer = client.receive().decode()
    while answer.startswith('O'):
        answer = client.receive().decode()
    return answer


def both_ways(time_number):
    seen = [client.registers()]
    for _ in range(steps):
        answer = client.ask('bs')
        if not answer.startswith('T05'):
            fail(f"stop {time_number}, 'bs': {answer}")
        if client.registers() == seen[-1]:
            fail(f"stop {time_number}, 'bs' has changed nothing: {client.console}")
        seen.append(client.registers())
    for was in reversed(seen[:-1]):
        client.ask('s')
        if client.registers() != was:
            fail(f"stop {time_number}: other registers when it comes back")


interrupted = 0
while interrupted < times and 'replaylog' not in interrupt():
    interrupted += 1
    both_ways(interrupted)
if interrupted == 0:
    fail('it was not interrupted')
if client.end() != 0:
    fail(client.messages)
print(f'{interrupted} times interrupted')
