"""Goes back from the end to the last call of a function that is called often.

    last_pass.py RECORDING ADDRESS ARGUMENT

It has the first ARGUMENT then.
"""
import sys

from client import Client

recording, address, wanted = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
client = Client(recording).start()
client.monitor('goto end')
client.ask(f'Z0,{address:x},1')
answer = client.ask('bc')
argument = int.from_bytes(bytes.fromhex(client.ask('p5')), 'little') & 0xffffffff
place = client.address()
client.end()
if place != address or argument != wanted:
    raise SystemExit(f'{recording}: {answer}: at {place:x}, with {argument}')
