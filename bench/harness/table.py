"""Tables as text and as Markdown."""


class Table:
    """Rows of text under column heads; a row that is None is a rule."""

    def __init__(self, title, heads, rows):
        self.title, self.heads, self.rows = title, heads, rows

    def text(self):
        """Aligned columns: the first to the left, the rest to the right."""
        rows = [self.heads, *(row for row in self.rows if row)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.heads))]

        def line(row):
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
            return '  '.join(cells).rstrip()
        rule = '-' * (sum(widths) + 2 * (len(widths) - 1))
        body = [line(row) if row else rule for row in self.rows]
        return '\n'.join([self.title, '', line(self.heads), rule, *body])

    def markdown(self):
        """A pipe table; rules vanish, rows that follow one are bold."""
        lines = [f'### {self.title}', '', '| ' + ' | '.join(self.heads) + ' |',
                 '|---|' + '---:|' * (len(self.heads) - 1)]
        bold = False
        for row in self.rows:
            if not row:
                bold = not bold
                continue
            cells = [f'**{cell}**' if bold and cell else cell for cell in row]
            lines.append('| ' + ' | '.join(cells) + ' |')
        return '\n'.join(lines)
