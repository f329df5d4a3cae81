"""heap.py SOURCE HITS OUTPUT: whether hits in JSON are what the program says that it has written.

A line of the program: thread, mark, block's number (0: any), address and size, offset, old and new
bytes, whether it was freed.  Hits of each thread come in its order; numbers of blocks of a mark are
each one's own."""
import itertools
import json
import re
import sys

source, hits, output = sys.argv[1:]
marks = {number: found.group(1) for number, text in enumerate(open(source), 1)
         if (found := re.search(r'/\* LINE (\w+) \*/', text))}
wanted, told, numbers = {}, {}, {}
for text in open(output):
    thread, mark, number, address, size, offset, old, new, freed = text.split()
    wanted.setdefault(thread, []).append(
        (mark, int(number), int(address, 0), int(size), int(offset), old, new, freed == '1'))
for text in open(hits):
    hit = json.loads(text)
    place = re.match(r'heap:[\w.]+:(\d+)(?:\[(\d+))?', hit['expression'])
    mark = marks[int(place.group(1))]
    block = hit['block']
    if mark == 'thread':
        owner = (hit['thread'], hit['block_address'])
        numbers.setdefault(block, set()).add(hit['thread'])
        block = 0
    at = 2 * (hit['block_offset'] - int(place.group(2) or 0) - hit['offset'])
    end = at + 2 * hit['bytes']
    if hit['address'] != hit['block_address'] + hit['block_offset']:
        end -= 2 * (hit['block_address'] + hit['block_offset'] - hit['address'])
    told.setdefault(str(hit['thread']), []).append(
        (mark, block, hit['block_address'], hit['block_size'], hit['block_offset'],
         hit['old_bytes'][at:end], hit['new_bytes'][at:end], hit['after_free']))


def in_order(writes):
    """What one write tells to several requests, in any order."""
    return [write for _, group in itertools.groupby(writes, lambda write: write[2:])
            for write in sorted(group)]


wrong = False
for thread in sorted(set(wanted) | set(told)):
    one, other = in_order(wanted.get(thread, [])), in_order(told.get(thread, []))
    if one == other:
        continue
    wrong = True
    first = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    print(f'thread {thread}: {len(one)} writes, {len(other)} told; number {first + 1}:')
    print('  written', one[first:first + 3])
    print('  told   ', other[first:first + 3])
for number, threads in numbers.items():
    if len(threads) > 1:
        wrong = True
        print(f'block {number} is of several threads')
if numbers and sorted(numbers) != list(range(1, len(numbers) + 1)):
    wrong = True
    print('numbers of blocks', sorted(numbers)[:9])
if not any(told.values()):
    wrong = True
    print('nothing was told')
sys.exit(wrong)
