"""How every scanning pattern is compiled."""

from __future__ import annotations

import re2

BYTES = re2.Options()
"""Over bytes, each byte a character; with room for the states that a pattern of many alternatives needs."""
BYTES.encoding = re2.Options.Encoding.LATIN1
BYTES.max_mem = 128 << 20
