"""The templates of report pages, and the filters in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from timpani.report.document.blocks import Block, Table
from timpani.report.document.html import block_html, html_of, with_code
from timpani.report.figures import theme
from timpani.report.page.sections import PageSection
from timpani.version import __version__


def template_text(name: str) -> str:
    """The text of a style sheet or script that pages contain."""
    return (resources.files("timpani.report.page") / "templates" / name).read_text()


@dataclass(frozen=True)
class Answer:
    """What stands first on a page.

    blocks       of the answer
    definitions  of words in it
    reasons      what is behind it, closed at first
    """

    title: str
    blocks: Sequence[Block]
    table: Table | None = None
    definitions: Sequence[str] = ()
    notes: Sequence[str] = ()
    reasons: Sequence[str] = ()


def render_page(
    title: str,
    answer: Answer,
    sections: Sequence[PageSection],
    *,
    question: str = "",
    facts: Sequence[tuple[str, str]] = (),
    static: Mapping[str, Markup] = MappingProxyType({}),
    linear: bool = False,
    scripts: Sequence[Markup] = (),
) -> str:
    """A page as HTML that needs nothing else.

    static   figures of panels as a reader without scripts sees them, by their names
    linear   whether these are on linear axes
    scripts  elements that draw the figures
    """
    return page_templates().get_template("page.html.jinja").render(locals())


def page_templates() -> Environment:
    """The templates of all pages; whatever they show is escaped."""
    environment = Environment(
        loader=PackageLoader("timpani", "report/page/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["block_html"] = block_html
    environment.filters["blocks_html"] = html_of
    environment.filters["with_code"] = with_code
    environment.globals |= {
        "generator": f"Timpani {__version__}",
        "light": Markup(theme.LIGHT.css()),  # noqa: S704 constants of Timpani
        "dark": Markup(theme.DARK.css()),  # noqa: S704
        "style": Markup(template_text("page.css")),  # noqa: S704
    }
    return environment
