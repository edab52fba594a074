"""The report in a real browser: Chromium, without a window and without a network."""

import base64
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.report.conftest import ALGORITHMS, HOSTILE_TITLE, SIZES
from tests.report.message_campaign import PAIRS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.needs(bool(CHROMIUM and DRIVER), "no Chromium, or none of its driver, on this machine")

Driver = webdriver.Chrome
SECONDS = 120  # after which, also on a busy machine, what a page draws is not coming
SIZE_FIGURE = "figure[data-panel=latency-against-size-scatter]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        "--window-size=1100,1000",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def pages(
    html: str, messages_html: str, strange_html: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The three pages of a session as files."""
    folder = tmp_path_factory.mktemp("pages")
    found = {"calls": html, "messages": messages_html, "strange": strange_html}
    for name, text in found.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in found}


def opened(browser: Driver, path: Path) -> Driver:
    """The page once all of its figures are drawn, with empty logs before it was asked for."""
    browser.get("about:blank")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    log(browser, "browser")
    log(browser, "performance")
    browser.get(path.as_uri())
    WebDriverWait(browser, SECONDS).until(
        lambda driver: driver.execute_script("return document.documentElement.dataset.drawn")
    )
    return browser


def log(browser: Driver, kind: str) -> list[dict[str, Any]]:
    """What the browser logged of that kind since it was asked last."""
    return list(browser.execute("getLog", {"type": kind})["value"])


def marks(figure: WebElement, kind: str) -> list[WebElement]:
    """The drawn items of a kind of mark, such as mark-symbol; legends and axes are no marks."""
    return figure.find_elements(By.CSS_SELECTOR, f".role-mark.{kind} > *")


def names(figure: WebElement) -> set[str]:
    """The names at the ends of the curves."""
    return {element.text for element in figure.find_elements(By.CSS_SELECTOR, ".role-mark.mark-text text")}


def until_names(page: Driver, figure: WebElement, expected: set[str]) -> None:
    WebDriverWait(page, SECONDS, ignored_exceptions=(Exception,)).until(
        lambda _: names(figure) == expected, f"the curves named are {names(figure)}, not {expected}"
    )


def computed_color(page: Driver, element: WebElement, name: str) -> str:
    return str(page.execute_script("return getComputedStyle(arguments[0])[arguments[1]]", element, name))


def brightness(color: str) -> float:
    """0 is black, 1 white."""
    return sum(int(part) for part in re.findall(r"\d+", color)[:3]) / (3 * 255)


def outline_text(title: bytes) -> str:
    """A PDF string: hexadecimal UTF-16 in angle brackets, or bytes in parentheses."""
    if title.startswith(b"<"):
        return bytes.fromhex(title[1:-1].decode()).decode("utf-16")
    return re.sub(rb"\\(.)", rb"\1", title[1:-1]).decode("latin-1")


BEYOND = """
const width = document.documentElement.clientWidth;
const beyond = document.documentElement.scrollWidth > width ? ["the page"] : [];
const isHidden = (box, style) => box.width === 0 || style.opacity === "0" || style.clipPath !== "none";
for (const element of document.querySelectorAll("body *:not(.skip)")) {
  if (element.closest("thead, tbody, caption") || (element.closest("svg") && !element.matches("svg, text"))) continue;
  const box = element.getBoundingClientRect();
  if (isHidden(box, getComputedStyle(element))) continue;
  const frame = element.matches("text")
    ? element.ownerSVGElement.getBoundingClientRect()
    : { left: 0, right: width, top: -Infinity, bottom: Infinity };
  const isWide = box.left < frame.left - 1 || box.right > frame.right + 1;
  if (isWide || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
    beyond.push(`${element.tagName} ${element.textContent.trim().slice(0, 40)}: ${box.left} to ${box.right}`);
}
return beyond;
"""
"""What is wider than the page, and which texts leave their figure. Rows of tables may scroll inside the table."""


MARKS = """
const shapes = ":is(.mark-symbol, .mark-rect) > [aria-label]";
return [...document.querySelectorAll(shapes)].map((mark) => {
  const found = / ?(?:algorithm|best|curve): ([^;,]+)/.exec(mark.getAttribute("aria-label"));
  const style = getComputedStyle(mark);
  const figure = mark.closest("figure").dataset.panel;
  const isHatch = figure.startsWith("algorithm-map") && mark.closest(".mark-symbol") !== null;
  return isHatch ? [] : [found?.[1], style.fill, style.stroke, figure];
}).filter(([name]) => name);
"""
"""Algorithm, fill, stroke and figure of points and of the map's cells."""


def color_of(name: str) -> str:
    """A script expression: a color of the style sheet as computed styles write it."""
    return (
        "(() => { const part = document.body.appendChild(document.createElement('i'));"
        f" part.style.color = 'var(--{name})'; const found = getComputedStyle(part).color;"
        " part.remove(); return found; })()"
    )


def test_every_figure_is_drawn_from_the_file_alone_and_the_console_is_silent(
    browser: Driver, pages: dict[str, Path]
) -> None:
    for name, path in pages.items():
        page = opened(browser, path)
        figures = page.find_elements(By.CSS_SELECTOR, "figure[data-panel]")
        assert len(figures) >= {"calls": 7 * len(ALGORITHMS), "messages": 9, "strange": 7}[name]
        for figure in figures:
            assert marks(figure, "mark-symbol") + marks(figure, "mark-rect"), figure.get_attribute("data-panel")
            assert figure.find_element(By.CSS_SELECTOR, ".chart svg").size["height"] > 50
        asked = (json.loads(entry["message"])["message"] for entry in log(page, "performance"))
        urls = {each["params"]["request"]["url"] for each in asked if each["method"] == "Network.requestWillBeSent"}
        assert {url for url in urls if not url.startswith(("data:", "blob:"))} == {path.as_uri()}
        # Vega says that the legends of a name's color and stroke differ, and takes one of them.
        assert not [entry for entry in log(page, "browser") if "Conflicting legend" not in entry["message"]]
        if name == "messages":
            matrix = page.find_element(By.CSS_SELECTOR, "figure[data-panel=pair-matrix-latency]")
            assert len(marks(matrix, "mark-rect")) == len(PAIRS)
        if name == "strange":
            assert page.execute_script("return window.harmed") is None
            assert page.find_element(By.TAG_NAME, "h1").text == HOSTILE_TITLE


def test_a_reader_chooses_algorithms_ranks_and_axes(browser: Driver, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["calls"])
    figure = page.find_element(By.CSS_SELECTOR, SIZE_FIGURE)
    everything = set(ALGORITHMS["scatter"])

    def labels() -> set[str]:
        return {text.text for text in figure.find_elements(By.CSS_SELECTOR, ".role-axis-label text")}

    until_names(page, figure, everything)
    points = len(marks(figure, "mark-symbol"))
    figure.find_element(By.CSS_SELECTOR, "input[value=bruck]").click()
    until_names(page, figure, everything - {"bruck"})
    assert len(marks(figure, "mark-symbol")) == points - len(SIZES)
    figure.find_element(By.CSS_SELECTOR, "[data-switch=none]").send_keys(Keys.ENTER)
    until_names(page, figure, set())
    figure.find_element(By.CSS_SELECTOR, "[data-switch=all]").send_keys(Keys.ENTER)
    until_names(page, figure, everything)
    assert "64 B" in labels()
    figure.find_element(By.CSS_SELECTOR, "input[data-linear]").click()
    WebDriverWait(page, SECONDS, ignored_exceptions=(Exception,)).until(lambda _: {"0 B", "512 KiB"} <= labels())
    oversubscribed = "[aria-label*='status: oversubscribed']"
    assert not figure.find_elements(By.CSS_SELECTOR, oversubscribed)
    Select(figure.find_element(By.TAG_NAME, "select")).select_by_visible_text("8 ranks")
    WebDriverWait(page, SECONDS).until(lambda _: figure.find_elements(By.CSS_SELECTOR, oversubscribed))
    assert not figure.find_elements(By.CSS_SELECTOR, "[aria-label*='ranks: 4;']")

    page = opened(browser, pages["strange"])
    figure = page.find_element(By.CSS_SELECTOR, "figure[data-panel=speedup-scatter]")
    line = figure.find_element(By.CSS_SELECTOR, ".undecided")
    assert line.text == "No significant difference from the default at any size, or too few launches: binomial."
    Select(figure.find_element(By.TAG_NAME, "select")).select_by_visible_text("2 ranks")
    WebDriverWait(page, SECONDS).until(lambda _: "bruck" in line.text, f"the line says {line.text}")


def test_colors_follow_the_algorithm_dark_mode_and_paper(browser: Driver, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["calls"])
    body = page.find_element(By.TAG_NAME, "body")
    name = page.find_element(By.CSS_SELECTOR, f"{SIZE_FIGURE} .role-mark.mark-text text")
    found: dict[str, set[str]] = {}
    neutral = {
        "none",
        "rgba(0, 0, 0, 0)",
        *(page.execute_script(f"return {color}") for color in map(color_of, ("unsure", "paper"))),
    }
    for label, fill, stroke, figure in page.execute_script(MARKS):
        if "spread" not in figure:  # its shade is the spread
            found.setdefault(label, set()).update({fill, stroke} - neutral)
    assert found.keys() >= {label for names in ALGORITHMS.values() for label in names}
    assert all(len(colors) == 1 for colors in found.values()), found
    lines = page.find_elements(By.CSS_SELECTOR, f"{SIZE_FIGURE} .role-mark.mark-line path")
    text = computed_color(page, body, "color")
    on_top = [computed_color(page, line, "stroke") == text for line in lines]
    assert on_top == [False] * (len(lines) - 1) + [True]  # the default is drawn last
    assert brightness(computed_color(page, body, "backgroundColor")) > 0.9
    assert brightness(computed_color(page, name, "fill")) < 0.3
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
    assert brightness(computed_color(page, body, "backgroundColor")) < 0.2
    assert brightness(computed_color(page, name, "fill")) > 0.7
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    assert brightness(computed_color(page, body, "backgroundColor")) > 0.9


def test_paper_has_every_section_figure_and_table(browser: Driver, pages: dict[str, Path]) -> None:
    page = opened(browser, pages["calls"])
    printed = page.execute_cdp_cmd("Page.printToPDF", {"generateTaggedPDF": True, "generateDocumentOutline": True})
    pdf = base64.b64decode(printed["data"])
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf)) > 3
    outline = {outline_text(title) for title in re.findall(rb"/Title ?(<[0-9A-Fa-f]+>|\((?:\\.|[^\\)])*\))", pdf)}
    headings = {heading.text for heading in page.find_elements(By.TAG_NAME, "h2")}
    assert len(headings) >= 11
    assert headings <= outline
    closed = page.find_elements(By.CSS_SELECTOR, "details:not([open])")
    assert closed
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert not page.find_elements(By.CSS_SELECTOR, "details:not([open])")
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(page.find_elements(By.CSS_SELECTOR, "details:not([open])")) == len(closed)

    left_out = closed[0]
    page.execute_script("arguments[0].classList.add('closed')", left_out)  # as a section without an answer is
    mark = "return getComputedStyle(arguments[0].querySelector('summary'), '::after').content"
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.execute_script(mark, left_out) == '" (on the screen)"'
    page.execute_script("arguments[0].open = true", left_out)
    assert page.execute_script(mark, left_out) == "none"


LONG_NOTES = """
const note = `<small>${'a long note, '.repeat(20)}</small>`
for (const cell of document.querySelectorAll('td.words')) cell.innerHTML += note
"""

WIDTHS = {1400: "screen", 800: "screen", 390: "screen", 690: "print"}


def test_nothing_is_wider_than_the_page_and_no_text_leaves_its_figure(browser: Driver, pages: dict[str, Path]) -> None:
    try:
        for width, media in WIDTHS.items():
            size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for path in pages.values():
                page = opened(browser, path)
                page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
                page.execute_script(LONG_NOTES)
                assert page.execute_script(BEYOND) == [], f"{path.name} at {width}"
                if path is pages["strange"] and width >= 800 and media == "screen":
                    assert_panels_fill_their_frames(page)
        tables = page.find_elements(By.CSS_SELECTOR, "#gains table")
        assert any("--mca coll_tuned_parameter_11 11" in table.text for table in tables)
        for table in tables:
            assert page.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", table) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def assert_panels_fill_their_frames(page: Driver) -> None:
    charts = page.find_elements(
        By.CSS_SELECTOR, "figure[data-panel^=placements] .chart, figure[data-panel^=speedup] .chart"
    )
    assert len(charts) >= 2
    for chart in charts:
        frame, content = page.execute_script(
            "return [arguments[0].clientWidth, arguments[0].querySelector('svg').getBoundingClientRect().width]", chart
        )
        assert 0.85 * frame <= content <= frame


def test_without_scripts_every_figure_is_there(browser: Driver, pages: dict[str, Path]) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})  # another test has set paper
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(pages["calls"].as_uri())
        figures = browser.find_elements(By.CSS_SELECTOR, "figure[data-panel]")
        assert len(figures) >= 7 * len(ALGORITHMS)
        for figure in figures:
            assert figure.find_element(By.CSS_SELECTOR, ".chart svg").size["height"] > 50
        assert not [button for button in browser.find_elements(By.TAG_NAME, "button") if button.is_displayed()]
        assert browser.execute_script(BEYOND) == []
        phone = {"width": 390, "height": 1000, "deviceScaleFactor": 1, "mobile": True}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        for drawn in browser.find_elements(By.CSS_SELECTOR, ".chart svg"):
            assert drawn.size["width"] >= float(str(drawn.get_attribute("width"))) - 1, "its type would be too small"
        assert browser.execute_script("return document.documentElement.scrollWidth") <= phone["width"]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
