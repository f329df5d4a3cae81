"""A breakpoint in the loop where turns of threads end.

    turning.py RECORDING ADDRESS STOPS
"""
import sys
import time

from client import Client

recording, address, stops = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
client = Client(recording).start()
client.socket.settimeout(100)
for number in range(stops):
    client.send('c')
    time.sleep(0.2)
    client.send_raw(b'\x03')
    answer = client.receive().decode('latin-1')
    if 'replaylog' in answer or not answer.startswith('T'):
        break
    client.ask(f'Z0,{address:x},1')
    for _ in range(3):
        answer = client.ask('c')
        if client.address() != address or 'replaylog' in answer:
            raise SystemExit(f'{number}: not at the breakpoint: {answer} {client.console}')
    client.ask(f'z0,{address:x},1')
if number < 2:
    raise SystemExit('the run has ended too early')
if client.end() != 0:
    raise SystemExit(client.messages)
