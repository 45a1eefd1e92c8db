"""Themes: a folder of Jinja2 templates and stylesheets, found in the wheel or in a checkout.

A theme of one's own needs to hold only what it changes; the rest comes from the default theme.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from jinja2.exceptions import TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from trailbook.failures import USAGE, Stopped
from trailbook.rendering.cleaning import clean

DEFAULT = "nacre"

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")
_AROUND = re.compile(r" ?([{};,]) ?")


@dataclass(slots=True, frozen=True)
class Style:
    """A stylesheet as it stands in each page, and the source that the page's policy allows by its digest."""

    text: Markup
    source: str
    """`'sha256-…'`, for `style-src`."""


@dataclass(slots=True, frozen=True)
class Theme:
    environment: Environment
    styles: dict[str, Style]
    """By the name of the kind of page: `report`, `index`, `batch`."""

    def render(self, template: str, **values: Any) -> bytes:
        """A page as UTF-8. Raises Stopped where the theme's template is wrong."""
        try:
            page = self.environment.get_template(template).render(**values)
        except TemplateError as error:
            raise _wrong_template(error) from None
        return page.encode()

    def macro(self, template: str, name: str) -> Callable[..., Markup]:
        """A macro of a template as a function. It raises Stopped where the theme's template is wrong."""
        try:
            macro = getattr(self.environment.get_template(template).module, name, None)
        except TemplateError as error:
            raise _wrong_template(error) from None
        if macro is None:
            raise Stopped(f"The theme's {template} has no macro {name}. Mend it, or leave --theme out.", USAGE)

        def called(*values: Any) -> Markup:
            try:
                return Markup(macro(*values))
            except TemplateError as error:
                raise _wrong_template(error) from None

        return called


@lru_cache(maxsize=4)
def load_theme(folder: Path | None) -> Theme:
    """The theme in `folder`, or the default one. Raises Stopped where it is no theme."""
    folders = [default_folder()]
    if folder is not None:
        _refuse_other_folders(folder)
        folders.insert(0, folder)
    # A theme may come with a folder of somebody else's: its templates lay out pages and run nothing.
    environment = (Environment if folder is None else ImmutableSandboxedEnvironment)(
        loader=ChoiceLoader([FileSystemLoader(each) for each in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    return Theme(environment, {kind: _style(folders, kind) for kind in _GENERATED})


def default_folder() -> Path:
    """Where the default theme lies: beside the package in a wheel, at the top of a checkout."""
    package = Path(__file__).resolve().parent
    places = (package / "themes", package.parent.parent / "themes")
    for place in places:
        if (place / DEFAULT / "report.html").is_file():
            return place / DEFAULT
    raise Stopped(
        f"The theme {DEFAULT} is missing from this installation ({places[0]}). Install trailbook again.", USAGE
    )


def _wrong_template(error: TemplateError) -> Stopped:
    """What to tell a person whose theme has a template that cannot be rendered."""
    where = f" ({error.name}, line {error.lineno})" if isinstance(error, TemplateSyntaxError) else ""
    return Stopped(f"A template of the theme is wrong{where}: {error.message}. Mend it, or leave --theme out.", USAGE)


def _refuse_other_folders(folder: Path) -> None:
    if not folder.is_dir():
        raise Stopped(f"There is no folder {folder}. --theme takes a folder with templates or stylesheets.", USAGE)
    ours = {path.name for path in default_folder().iterdir()}
    if not any(path.name in ours for path in folder.iterdir()):
        raise Stopped(f"{folder} is no theme: none of {', '.join(sorted(ours))} is in it.", USAGE)


def _style(folders: list[Path], kind: str) -> Style:
    """One constant stylesheet a kind of page: what all pages share, then the kind's own, then what is generated."""
    sheets = (_read(folders, "style.css"), _read(folders, f"{kind}.css"), _GENERATED[kind]())
    text = _shortened("\n".join(sheets))
    if "</" in text:
        raise Stopped(f"The theme's {kind}.css holds `</`, which would end the stylesheet in the page.", USAGE)
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return Style(Markup(text), f"'sha256-{digest}'")


def _read(folders: list[Path], name: str) -> str:
    path = next(each / name for each in folders if (each / name).is_file())
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Stopped(f"{path} could not be read ({error}).", USAGE) from None


def _shortened(css: str) -> str:
    return _AROUND.sub(r"\1", _SPACE.sub(" ", _COMMENT.sub("", css))).strip()


def _positions() -> str:
    """Where the play head of a step stands: `p20 q4` is 20 fortieths and 4 thousandths of the axis.

    Geometry in classes, because no data ever enters the stylesheet and no `style` attribute the page.
    """
    coarse = "".join(f".p{number}{{--p:{number}}}" for number in range(41))
    fine = "".join(f".q{number}{{--q:{number}}}" for number in range(25))
    return coarse + fine


FACETS = {"a": 24, "p": 60, "m": 40, "o": 8, "f": 2, "d": 36}
"""How many values each filter of the index has at most: agent, project, model, origin, failed, month."""


def _filters() -> str:
    """For each value of each filter a rule that hides the rows without it."""
    return "".join(
        f".filters:has(#{name}{number}:checked)~.list .r:not(.{name}{number}){{display:none}}"
        for name, values in FACETS.items()
        for number in range(values)
    )


_GENERATED: dict[str, Callable[[], str]] = {"report": _positions, "index": _filters, "batch": str}


def _finalize(value: Any) -> Any:
    """What a template writes: text is cleaned (and then escaped by Jinja2), nothing stands for what is not known."""
    if value is None:
        return ""
    return clean(value, prose=True) if type(value) is str else value
