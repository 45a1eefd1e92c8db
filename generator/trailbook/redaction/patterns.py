"""How every scanning pattern is compiled, and what stands where something was taken out."""

from __future__ import annotations

import re

import re2

BYTES = re2.Options()
"""Over bytes, each byte a character; with room for the states that a pattern of many alternatives needs."""
BYTES.encoding = re2.Options.Encoding.LATIN1
BYTES.max_mem = 128 << 20

TOKEN = re.compile(r"\[(?:password|key|email|phone|card|address|name)(?: \d+)?\]")
"""What stands in a text where something was taken out. (A home folder leaves `~`.)"""
