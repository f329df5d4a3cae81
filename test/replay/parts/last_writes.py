"""Goes back from the end to each write of a word.

    last_writes.py RECORDING ADDRESS VALUE...

The VALUES are what it has in front of the writes, the last one first.
"""
import sys

from client import Client

recording, address, values = sys.argv[1], int(sys.argv[2], 16), list(map(int, sys.argv[3:]))
client = Client(recording).start()
client.monitor('goto end')
client.ask(f'Z2,{address:x},8')
found = []
for _ in values:
    answer = client.ask('bc')
    if 'watch:' not in answer:
        break
    found.append(int.from_bytes(client.memory(address, 8), 'little'))
client.end()
if found != values:
    raise SystemExit(f'{recording}: {found} in front of the writes, not {values}')
