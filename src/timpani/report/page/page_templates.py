"""The templates of report pages, and the filters in them."""

from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from timpani.report.document.html import block_html, with_code
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
    environment.filters["block_html"] = block_html
    environment.filters["with_code"] = with_code
    environment.filters["begin_sentence"] = lambda text: f"{text[:1].upper()}{text[1:]}"
    environment.globals |= {
        "generator": f"Timpani {__version__}",
        "light": Markup(theme.LIGHT.css()),  # noqa: S704 constants of Timpani
        "dark": Markup(theme.DARK.css()),  # noqa: S704
        "style": Markup(template_text("page.css")),  # noqa: S704
    }
    return environment
