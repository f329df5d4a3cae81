"""A client of gdb's remote protocol, which shares nothing with quipu's server."""
import re
import socket
import subprocess


class Gone(Exception):
    """The server has closed the connection."""


class Client:
    """One session with 'quipu replay --port=0 FILE'."""

    def __init__(self, recording, *options, output=subprocess.DEVNULL):
        self.server = subprocess.Popen(['quipu', 'replay', '--port=0', *options, recording],
                                       stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.PIPE, text=True)
        self.messages = ''
        port = None
        for line in self.server.stderr:
            self.messages += line
            port = re.search(r'extended-remote :(\d+)', line)
            if port:
                break
        if not port:
            raise SystemExit(f'no server: {self.messages}')
        self.socket = socket.create_connection(('127.0.0.1', int(port.group(1))))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(60)
        self.left = b''
        self.quiet = False
        self.console = ''

    def start(self):
        """What a client sends first."""
        self.ask('qSupported:multiprocess+;swbreak+;hwbreak+')
        if self.ask('QStartNoAckMode') != 'OK':
            raise SystemExit('QStartNoAckMode is refused')
        self.quiet = True
        return self

    def byte(self):
        if not self.left:
            try:
                self.left = self.socket.recv(65536)
            except ConnectionError:
                self.left = b''
            if not self.left:
                raise Gone()
        byte, self.left = self.left[0], self.left[1:]
        return byte

    def send_raw(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Gone() from error

    def send(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.send_raw(b'$' + data + b'#%02x' % (sum(data) & 0xff))

    def receive(self):
        """The next packet's text, decoded."""
        while self.byte() != ord('$'):
            pass
        text = bytearray()
        while True:
            byte = self.byte()
            if byte == ord('#'):
                break
            text.append(self.byte() ^ 0x20 if byte == ord('}') else byte)
        self.byte()
        self.byte()
        if not self.quiet:
            self.send_raw(b'+')
        return bytes(text)

    def ask(self, text):
        """Sends a packet.  Returns the answer; what is for the console goes there."""
        self.send(text)
        while True:
            answer = self.receive()
            if answer[:1] == b'O' and answer != b'OK':
                self.console += bytes.fromhex(answer[1:].decode()).decode(errors='replace')
                continue
            return answer.decode('latin-1')

    def registers(self):
        return self.ask('g')

    def address(self):
        """The instruction pointer: the 17th register of eight bytes."""
        return int.from_bytes(bytes.fromhex(self.ask('p10')), 'little')

    def monitor(self, line):
        self.console = ''
        if self.ask('qRcmd,' + line.encode().hex()) != 'OK':
            raise SystemExit(f"'monitor {line}' has failed")
        return self.console

    def memory(self, address, size):
        return bytes.fromhex(self.ask(f'm{address:x},{size:x}'))

    def end(self):
        """Leaves.  Returns the server's exit status."""
        try:
            self.send('D')
            self.receive()
        except Gone:
            pass
        self.socket.close()
        self.messages += self.server.stderr.read()
        return self.server.wait(60)
