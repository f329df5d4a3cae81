"""In gdb: breakpoints with conditions, evaluated by gdb and by the server, stop at the same places, forwards and
backwards."""
import gdb

# What gdb can compile, and what it cannot.
COMPILED = ['i == 3', 'i < -5', 'i > -3 && i < 4', 'i < -6 || i > 6', 'u >= 4294967290U', 'c < 0', '(unsigned char)c > 180',
            'item && !item->next', 'item && item->next && item->next->number < -3', 'item && item->flag == 5',
            'item && item->low < -9', 'item && item->values[2] < -5000', '*where % 3 == 1', '-i % 4 == 3', 'i / 3 == -2',
            'u / 7 == 613566755', 'wide > 1UL << 63', '(long)wide >> 60 == -3', '~i == 4', '!(i & 3)', '(i ^ 6) == 1',
            '(i | 8) == 11', 'i << 3 == 40', '&items[2] == item', 'turn > 9 ? c < 0 : c > 100', '$rsi == 7',
            '(char)$rcx == 26', '1000 / (turn - 5) == 500', 'item->number == 3']
OTHERS = ['color == BLUE', 'real > 2.1', '$xmm0.v4_int32[0] == 0 && i == 1', '$_streq("a", "a") && i == 2']


stopped = []  # the numbers of the breakpoints of the last stop


def take_stop(event):
    stopped[:] = [point.number for point in event.breakpoints] if isinstance(event, gdb.BreakpointEvent) else []


def turn():
    return int(gdb.parse_and_eval('(int)turn'))


def stops(direction, number):
    """The turns at which the breakpoint stops, up to another stop."""
    found = []
    while True:
        gdb.execute(direction)
        if number not in stopped:
            return found
        found.append(turn())


def values():
    """The turns at which gdb itself finds each condition true."""
    gdb.execute('break *visit')
    number = int(gdb.parse_and_eval('$bpnum'))
    found = {condition: [] for condition in COMPILED + OTHERS}
    while True:
        gdb.execute('continue')
        if number not in stopped:
            break
        for condition, turns in found.items():
            try:
                if gdb.parse_and_eval(condition):
                    turns.append(turn())
            except gdb.error:
                turns.append(turn())  # it stops, and says what is wrong
    gdb.execute('delete %d' % number)
    return found


def main():
    gdb.execute('set pagination off')
    gdb.events.stop.connect(take_stop)
    gdb.execute('break bound')
    gdb.execute('continue')
    wanted = values()
    gdb.execute('reverse-continue')
    for condition in COMPILED + OTHERS:
        gdb.execute('break *visit if ' + condition)
        number = int(gdb.parse_and_eval('$bpnum'))
        forwards = stops('continue', number)
        backwards = stops('reverse-continue', number)[::-1]
        evaluated = gdb.execute('info breakpoints %d' % number, to_string=True)
        gdb.execute('delete %d' % number)
        if wanted[condition] == forwards == backwards:
            print("'%s' is right, %d times" % (condition, len(forwards)))
        else:
            print("'%s' is wrong: %s, forwards %s, backwards %s" % (condition, wanted[condition], forwards, backwards))
        if '(target evals)' not in evaluated:
            print('not compiled:', evaluated)


main()
