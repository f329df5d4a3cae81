"""A client that sends random and hostile packets.  The server must answer, or leave, and never crash.

    hostile.py RECORDING SEED PACKETS
"""
import random
import sys

from client import Client, Gone

recording, seed, packets = sys.argv[1], *map(int, sys.argv[2:4])
random.seed(seed)
NUMBERS = ['0', '1', 'ffffffffffffffff', '7fffffffffffffff', 'fffffffffffffffff', '7ffffffde000', '-1',
           '', '10', 'zz', '555555555000']
WORDS = ['?', 'g', 'G', 'p', 'P10=00', 'm', 'M', 'X', 'c', 's', 'C05', 'S05', 'vCont;c', 'vCont;s:p1.1',
         'vCont;r', 'vCont?', 'vCont;x', 'bs', 'b', 'H', 'Hg0', 'Hcp-1.-1', 'T', 'Z0', 'Z1', 'Z2', 'Z3',
         'Z9', 'z0', 'z2', 'qC', 'qfThreadInfo', 'qsThreadInfo', 'qXfer:features:read:target.xml:',
         'qXfer:auxv:read::', 'qXfer:siginfo:read::', 'qXfer:exec-file:read:1:', 'qXfer:', 'qXfer:x:y:z',
         'qRcmd,', 'qRcmd,6865', 'qSupported:', 'QStart', 'vFile:open:', 'vFile:open:2f,0,0',
         'vFile:pread:', 'vFile:close:', 'vFile:fstat:', 'vFile:stat:2f', 'vFile:readlink:2f70', 'vFile:',
         'vFile:pread:3,ffff,', 'vMustReplyEmpty', 'qAttached', 'qSymbol::', '!', 'vRun;', 'R00',
         'Z4', '_M1000,rwx', '_M', '_m', '_m10000000000', 'QCatchSyscalls:', 'QCatchSyscalls:0', 'QCatchSyscalls:1',
         'QCatchSyscalls:1;1', 'QPassSignals:', 'QPassSignals:e;10;14;ffffffffffffffff', 'qHostInfo', 'qProcessInfo', 'qMemoryRegionInfo:', 'qWatchpointSupportInfo:',
         'qSupported:multiprocess+;exec-events+']
SIZES = ['0', '1', '8', '1000', '1001', 'ffffffff', '20000', 'ffffffffffffffff']
COMMANDS = ['when', 'goto', 'goto 3', 'goto end', 'goto 99999999999999999999', 'goto x', 'output', 'help', '',
            'checkpoints', 'when when', ' ', 'g' * 5000]


EXPRESSIONS = [';X3,220127', ';X3,220027;X3,220127', ';X', ';X3', ';Xffffffffffffffff,', ';X1,27', ';X6,220021000027',
               ';X5,260010' + '27', ';X4,26001027', ';X4,26ffff27', ';X6,2201220005' + '27', ';X5,22001a' + '2727', ';X3,2201ff',
               ';X3,220127;cmds:0,', ';Y3,220127', ';X4,22017f27']


def number():
    return random.choice(NUMBERS + SIZES)


def packet():
    kind = random.randrange(7)
    if kind == 0:
        return random.choice(WORDS)
    if kind == 1:
        return random.choice(WORDS) + random.choice([',', ';', ':', '']).join(number() for _ in range(3))
    if kind == 2:
        return random.choice('mMXZz') + number() + ',' + number() + random.choice([',', ':']) + number()
    if kind == 3:
        return 'qRcmd,' + random.choice(COMMANDS).encode().hex()
    if kind == 4:
        return bytes(random.randrange(256) for _ in range(random.randrange(1, 40)))
    if kind == 5:
        place = random.choice(PLACES)
        return random.choice(['Z0,', 'Z1,', 'Z2,', 'z0,']) + place + ',1' + ''.join(
            random.choice(EXPRESSIONS + [';X%x,%s' % (size, random.randbytes(size).hex())])
            for size in random.choices(range(40), k=random.randrange(4)))
    return random.choice(WORDS) + 'f' * random.choice([1, 100, 70000, 300000])


def send_noise(client):
    """Bytes that are no packet, or one with another sum."""
    client.send_raw(random.choice([b'$g#00', b'+++---', b'\x03', b'$$$#', b'$}', b'#', b'$m0,1#', b'\0' * 100,
                                   b'$vCont;c', b'}}}}#']))


client, started = Client(recording).start(), 1
PLACES = NUMBERS + [f'{client.address():x}']
sent = 0
while sent < packets:
    sent += 1
    try:
        if random.randrange(12) == 0:
            send_noise(client)
            client.send('?')
            client.receive()
        else:
            text = packet()
            plain = text if isinstance(text, bytes) else text.encode()
            client.ask(plain.translate(None, b'#$}\x03'))
    except (Gone, TimeoutError):
        status = client.end()
        if status != 0 or 'Sanitizer' in client.messages or 'CHECK' in client.messages:
            raise SystemExit(f'seed {seed}, packet {sent}: status {status}: {client.messages}') from None
        client, started = Client(recording).start(), started + 1
status = client.end()
if status != 0:
    raise SystemExit(f'seed {seed}: status {status}: {client.messages}')
print(f'{sent} packets, {started} sessions')
