"""Whether the end of a line of code stands inside a string or a here-document, where backticks are no fence.

It is what gptme's own parser asks while it looks for the end of a call's code: a shell script may write a Markdown
file, a Python string may hold one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SHELL = re.compile(r"\\.|\$'|'|\"|\$\(\(|(?<!\S)#|(?<!<)<<<|(?<!<)<<-?\s*['\"\\]?([^\s'\"\\]+)", re.DOTALL)
_SHELL_ENDS = {
    "'": re.compile("'"),
    '"': re.compile(r'\\.|"', re.DOTALL),
    "$'": re.compile(r"\\.|'", re.DOTALL),
}
_PYTHON = re.compile(r"#|\"\"\"|'''|\"|'")
_PYTHON_ENDS = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ("'", '"', "'''", '"""')}
_FARTHEST = 200
"""How many lines on the end of a here-document is looked for."""


@dataclass(slots=True)
class ShellQuoting:
    """A shell script, line by line."""

    quote: str = ""
    """The quote that is open: `'`, `"` or `$'`."""
    terminator: str | None = None
    """The word that ends the here-document that is open."""

    @property
    def quoted(self) -> bool:
        """Whether what comes next stands in a string."""
        return bool(self.quote)

    @property
    def verbatim(self) -> bool:
        """Whether the line stands in a here-document."""
        return self.terminator is not None

    @property
    def in_python_text(self) -> bool:
        """Never: only Python has strings in which a fence with a language is text too."""
        return False

    def read(self, lines: list[str], at: int) -> None:
        """Take the next line. A `<<` opens a here-document only where its end comes: else it is a shift."""
        if self.terminator is not None:
            if lines[at].strip() == self.terminator:
                self.terminator = None
            return
        word = self._scan(lines[at])
        if word is not None and any(line.strip() == word for line in lines[at + 1 : at + 1 + _FARTHEST]):
            self.terminator = word

    def _scan(self, line: str) -> str | None:
        """Follow the quotes of a line; the word of the here-document that it opens, if it does."""
        at = 0
        while at < len(line):
            if self.quote:
                at = self._to_end_of_quote(line, at)
                continue
            match = _SHELL.search(line, at)
            if match is None or match.group() == "#":
                return None
            at, token = match.end(), match.group()
            if match.group(1) is not None:
                if not match.group(1).lstrip("+-").isdigit():
                    return match.group(1)
                at = match.start() + 2
            elif token == "$((":
                end = line.find("))", match.start() + 2)
                at = end + 2 if end >= 0 else len(line)
            elif token in _SHELL_ENDS:
                self.quote = token
        return None

    def _to_end_of_quote(self, line: str, at: int) -> int:
        for match in _SHELL_ENDS[self.quote].finditer(line, at):
            if not match.group().startswith("\\"):
                self.quote = ""
                return match.end()
        return len(line)


@dataclass(slots=True)
class PythonQuoting:
    """A Python script, line by line."""

    quote: str = ""

    @property
    def quoted(self) -> bool:
        """Whether what comes next stands in a string of several lines."""
        return len(self.quote) == 3

    @property
    def verbatim(self) -> bool:
        """Never: Python has no here-documents."""
        return False

    @property
    def in_python_text(self) -> bool:
        """Whether the line stands in a string of several lines."""
        return self.quoted

    def read(self, lines: list[str], at: int) -> None:
        """Take the next line."""
        line = lines[at]
        position = 0
        while position < len(line):
            pattern = _PYTHON_ENDS[self.quote] if self.quote else _PYTHON
            match = pattern.search(line, position)
            if match is None or match.group() == "#":
                break
            position = match.end()
            if not match.group().startswith("\\"):
                self.quote = "" if self.quote else match.group()
        if len(self.quote) == 1 and (len(line) - len(line.rstrip("\\"))) % 2 == 0:
            self.quote = ""  # such a string ends with its line, unless a backslash goes on


Quoting = ShellQuoting | PythonQuoting
