"""How a person's name is spelled: in full in every usual form, by one name only where that is no common word."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import quote

_COMMON = frozenset(
    """
    abby ace ada adept admiral alba alma amber amity angel april archer art ash asia aspen august aurora autumn
    baker banks barn barry basil bay beau bell best bill birch bishop black blaze bliss blossom blue bond brand
    brandy brave bright brook brooks brown buck bud burn bush butler cam candy carol carter case cash castle chance
    chandler chase china chip christian church clay cliff cloud cole colt cook cooper cotton crane crystal curt cyan
    daisy dale dallas dan dash data dawn day dean dell destiny dick dolly don dot dove drake drew duke dusty earl
    east eden elm ember emerald eve faith fawn fern field fields finn fisher flint flora ford forest fox france
    frank frost gale gardner gay gem gene genesis georgia ginger glen glory gold grace grant gray green grey guy
    hall happy hardy harmony harper harry hart haven hawk hazel heath heather heaven henry hill holly honey hope
    hunt hunter ice iris ivy jack jade jasmine jasper java jay jean jersey jet jewel joy judge judy julia june
    justice justin kale kay king kit knight lake lance lane lark laurel law lee levi liberty light lily lincoln
    little long lotus love luna lynx major mark marsh marshall martin mason max may melody mercy merry mike miles
    mill miller min misty mo mockingbird moon moore morning moss myrtle nash neil nick noble noel nova oak ocean
    olive opal page pansy paris park parker parks pascal pat patience patrick patty peace pearl penny pepper perl
    pike pilot piper poppy port porter prairie price prince queen rain rainbow randy raven ray red reed reef reese
    rice rich river rivers rob robin rock rod rose rowan roy ruby rusty rye sage sally sam sandy savage savannah
    scarlet scout sean season serenity shark sharp sierra singer sky small smith snow sol sonny spring star stella
    stone storm strong sue summer sun sunny swan sweet swift tailor tanner tate taylor teal temple terra terry tiger
    tim todo tony trace tracy travis trinity troy truth tucker turner una val van velvet venus victor victory viola
    violet virginia wade walker walter ward warren watch water waters way wayne weaver webb west wheeler white wild
    will willow win winter winters wolf wood woods wren wright york young zen
    """.split()  # noqa: SIM905
)
"""Names that are words, in English or in code: alone they say nothing of a person."""

_JOINTS = (" ", "\u00a0", "  ", "\n", "\t", "-", "_", ".", "", "+", "%20", "%2520", "\\n", "\\u00a0")
_SHORTEST_ALONE = 3
_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def is_written_without_spaces(name: str) -> bool:
    """Whether a name is in a script that puts no space between words (Chinese, Japanese, Korean)."""
    return bool(_WIDE.search(name))


def persons(names: Iterable[str]) -> dict[str, str]:
    """Every name that is looked for, with the person it belongs to: a single name to the full name it is a part of."""
    names = list(dict.fromkeys(names))
    full = [name for name in names if len(name.split()) > 1]
    found = {name: name for name in full}
    for name in full:
        for part in (name.split()[0], name.split()[-1]):
            if _tells_alone(part):
                found.setdefault(part, name)
    for name in names:
        if len(name.split()) == 1 and _tells_alone(name):
            found.setdefault(name, name)
    return found


def spellings(name: str) -> Iterator[str]:
    """Every spelling of a name that is looked for: a full name in any case and joint, a single one as it is."""
    for form in _normal_forms(name):
        words = form.split()
        if len(words) == 1:
            yield from _escaped(form)
            continue
        for order in (words, [words[-1], *words[:-1]]):
            for cased in (order, [word.upper() for word in order], [word.lower() for word in order]):
                for joint in _JOINTS:
                    yield from _escaped(joint.join(cased))
        yield f"{words[-1]}, {' '.join(words[:-1])}"
        yield f"{words[-1].upper()}, {' '.join(words[:-1])}"


def _tells_alone(name: str) -> bool:
    if is_written_without_spaces(name):
        return len(name) > 1
    return len(name) >= _SHORTEST_ALONE and name.lower() not in _COMMON


def _normal_forms(name: str) -> Iterator[str]:
    folded = "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))
    forms = [unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)]
    if len(name.split()) > 1:
        forms.append(folded)
    seen: set[str] = set()
    for form in forms:
        apostrophes = ("'", "\u2019", "\u02bc", "") if "'" in form or "\u2019" in form else ("",)
        for apostrophe in apostrophes:
            changed = re.sub("['\u2019]", apostrophe, form)
            if changed not in seen and (apostrophe or changed == form or len(form.split()) > 1):
                seen.add(changed)
                yield changed


def _escaped(form: str) -> Iterator[str]:
    yield form
    if not form.isascii():
        yield from (json.dumps(form)[1:-1], quote(form, safe=" -_.+%"))
    if "'" in form:
        yield from (html.escape(form), form.replace("'", "&#39;"), form.replace("'", "\\'"))
