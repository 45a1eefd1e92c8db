"""The person of these tests, as a context: nobody's name, secret or address."""

from __future__ import annotations

from trailbook.redaction.context import Context

SECRET = 'tr0ub4dor&3-horse"battery'
SHORT_SECRET = "hunter22"
KEY = "sk-ant-" + "api03-" + "Zq4vT9xW2mK7pL1nR8sD3fG6hJ0bC5yA"
"""No context knows it: it tells by its shape."""
OPAQUE = "Zk81Pq47Rt26Vw93"
"""Nothing tells it but the name it is given somewhere."""

MIRA = Context(
    names=("Mira Okafor", "李小龍"),
    emails=("mira@okafor.dev",),
    secrets=(SECRET, SHORT_SECRET),
    homes=("/home/mira", "C:\\Users\\Mira Okafor"),
    logins=("mira",),
    hosts=("Miras-MacBook-Pro",),
)
