"""Names of accounts that say nothing of a person."""

from __future__ import annotations

GENERIC_LOGINS = frozenset(
    """
    root admin administrator user users ubuntu debian fedora centos ec2-user runner node app dev developer docker
    vagrant pi www-data nobody guest test postgres mysql git jenkins build builder ci codespace vscode coder jovyan
    vercel gitpod sandbox agent service daemon default public shared home container host localhost oracle opc
    """.split()  # noqa: SIM905
)


def is_generic_login(login: str) -> bool:
    """Whether an account's name says nothing of a person, such as `root` or `ubuntu`."""
    return login.lower() in GENERIC_LOGINS
