"""English verbs, as far as tools need them: from "run the tests" to "Running", "Ran" and "Couldn’t run the tests"."""

from __future__ import annotations

_PAST = {
    "be": "was",
    "begin": "began",
    "bring": "brought",
    "build": "built",
    "choose": "chose",
    "cut": "cut",
    "do": "did",
    "draw": "drew",
    "find": "found",
    "get": "got",
    "give": "gave",
    "go": "went",
    "hand": "handed",
    "hold": "held",
    "keep": "kept",
    "leave": "left",
    "let": "let",
    "look": "looked",
    "make": "made",
    "overwrite": "overwrote",
    "put": "put",
    "read": "read",
    "rebuild": "rebuilt",
    "redo": "redid",
    "rerun": "reran",
    "reset": "reset",
    "rewrite": "rewrote",
    "run": "ran",
    "see": "saw",
    "send": "sent",
    "set": "set",
    "show": "showed",
    "shut": "shut",
    "speak": "spoke",
    "spin": "spun",
    "split": "split",
    "take": "took",
    "tell": "told",
    "think": "thought",
    "undo": "undid",
    "write": "wrote",
}
_DOUBLED = """
    begin commit control cut drop format get grep let log map plan put rerun reset run scan set shut spin split stop
    strip submit tag trim wrap
"""
_REGULAR = """
    add adjust allow analyze answer append apply approve archive ask assign attach audit back benchmark boot browse
    bump call cancel capture change check clean clear click clone close collect commit compare compile compress
    compute configure confirm connect convert copy correct count cover create debug decode define delete deploy
    describe detect determine diff disable discover display download drop dump echo edit enable encode ensure
    enter enumerate evaluate examine execute expand explain explore export extract fetch fill filter finish fix
    follow force format generate grep group identify implement import improve index initialize insert inspect
    install investigate invoke join kill launch lint list load locate log lookup manage mark measure merge migrate
    modify monitor mount move navigate normalize note open optimize order organize parse patch perform pin ping plan
    play poll post prepare press preview print probe process profile prune publish pull push query queue rebase
    reboot receive record refactor refresh register reinstall reload remember remove rename render reopen repair
    repeat replace reply reproduce request resolve restart restore retrieve retry return reveal revert review roll
    sanitize save scaffold scan schedule scrape scroll search select serve share simplify skip sleep sort source
    stage start stash stop store strip submit subscribe summarize switch sync tag tail test touch trace track
    transform translate trigger trim try type uninstall unpack unzip update upgrade upload use validate verify view
    visit wait walk watch wrap zip
"""
_KNOWN = frozenset([*_PAST, *_REGULAR.split()])
_DOUBLING = frozenset(_DOUBLED.split())


def is_verb(word: str) -> bool:
    """Whether an English word is known here as a verb."""
    return word in _KNOWN


def past(verb: str) -> str:
    """`ran` of `run`, `edited` of `edit`."""
    irregular = _PAST.get(verb)
    if irregular is not None:
        return irregular
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1:] if verb in _DOUBLING else "") + "ed"


def going_on(verb: str) -> str:
    """`running` of `run`, `editing` of `edit`."""
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return verb[:-1] + "ing"
    return verb + (verb[-1:] if verb in _DOUBLING else "") + "ing"
