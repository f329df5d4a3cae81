"""What a test says of itself in the comment lines at its head.

    // Recursion, to a depth of 12.
    // flags: -O2 -pthread
    // variants: -O0; -O2; clang -O2

A line `key: value` is an option, any other text is for the reader.  A line `key` alone, where the
key is known to have no value, is a switch.  The first line that is no comment ends the head.
"""
import os
import re

COMMENT = re.compile(r'^\s*(?://|#|!|--|;|/\*|\*)\s?(.*?)(?:\*/)?\s*$')
OPTION = re.compile(r'^([a-z][a-z-]*):(?:\s+(.*))?$')

# Keys that a formatter of comments has put behind other text; no word of English in front of a colon.
LOST_IN_TEXT = {'args', 'flags', 'least', 'variants'}


class Options:
    """Options of one test file: get() for one value, list() for many."""

    def __init__(self, path, known):
        self.path = path
        self.values = {}
        with open(path, encoding='utf-8', errors='replace') as file:
            for line in file:
                if line.startswith('#!'):
                    continue
                comment = COMMENT.match(line)
                if not comment or line.startswith('#include'):
                    break
                self._add(comment.group(1), known)

    def _add(self, text, known):
        option = OPTION.match(text)
        if option and option.group(1) in known:
            self.values.setdefault(option.group(1), []).append(option.group(2) or '')
        elif text in known:
            self.values.setdefault(text, []).append('')
        elif option and ' ' not in text.split(':')[0]:
            raise SystemExit(f"{self.path}: error: '{option.group(1)}': no such option of a test; "
                             f"known are {', '.join(sorted(known))}")
        for key in LOST_IN_TEXT & set(known):
            if f' {key}: ' in text:
                raise SystemExit(f"{self.path}: error: '{key}:' stands behind other text; put it on "
                                 f"a line of its own")

    def has(self, key):
        return key in self.values

    def get(self, key, default=''):
        return ' '.join(self.values[key]) if key in self.values else default

    def words(self, key):
        return self.get(key).split()

    def list(self, key, default):
        """Values between semicolons."""
        text = ';'.join(self.values[key]) if key in self.values else default
        return [item.strip() for item in text.split(';')]

    def has_processor(self):
        """Whether /proc/cpuinfo has the flags that the test requires."""
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            flags = next((line.split() for line in file if line.startswith('flags')), [])
        return all(flag in flags for flag in self.words('requires'))

    def beside(self, name):
        """A file that the test names, in its own folder."""
        return os.path.join(os.path.dirname(self.path), name)
