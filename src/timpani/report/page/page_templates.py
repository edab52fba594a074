"""The templates of report pages, and the filters in them."""

import re
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from timpani.report.figures import theme
from timpani.report.tables.algorithm_tables import with_unit
from timpani.study.operations import title_of
from timpani.version import __version__


def template_text(name: str) -> str:
    """The text of a style sheet or script that pages contain."""
    return (resources.files("timpani.report.page") / "templates" / name).read_text()


def page_templates() -> Environment:
    """The templates of all pages; whatever they show is escaped."""
    environment = Environment(
        loader=PackageLoader("timpani", "report/page/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["collective_title"] = title_of
    environment.filters["with_unit"] = with_unit
    environment.filters["breakable"] = _breakable
    environment.filters["with_code"] = _with_code
    environment.filters["begin_sentence"] = lambda text: f"{text[:1].upper()}{text[1:]}"
    environment.globals |= {
        "generator": f"Timpani {__version__}",
        "light": Markup(theme.LIGHT.css()),  # noqa: S704 constants of Timpani
        "dark": Markup(theme.DARK.css()),  # noqa: S704
        "style": Markup(template_text("page.css")),  # noqa: S704
    }
    return environment


def _with_code(text: str) -> Markup:
    """The text with what stands between backticks as code."""
    parts = [Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(text.split("`"))]
    return Markup("").join(parts) if len(parts) % 2 else Markup("{}").format(text)


def _breakable(name: str) -> Markup:
    """A name that may be broken behind its slashes, underscores, colons and commas."""
    return Markup("<wbr>").join(re.split(r"(?<=[/_:,])", name))
