"""The report in a real browser: Chromium, without a window and without a network."""

import base64
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.campaign_files import write_lines
from tests.report.conftest import (
    ALGORITHMS,
    HOSTILE_TITLE,
    SIZES,
    synthetic_header,
    synthetic_launches,
    synthetic_results,
    write_campaign,
)
from tests.report.message_campaign import PAIRS
from timpani.campaign.folder.load import load
from timpani.report.page.page import render

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
def report_file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Driver, report_file: Path) -> Driver:
    return opened(browser, report_file)


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


def test_every_figure_is_drawn_and_the_console_is_silent(page: Driver) -> None:
    figures = page.find_elements(By.CSS_SELECTOR, "figure[data-panel]")
    assert len(figures) >= 7 * len(ALGORITHMS)
    for figure in figures:
        drawn = marks(figure, "mark-symbol") + marks(figure, "mark-rect")
        assert drawn, figure.get_attribute("data-panel")
        assert figure.find_element(By.CSS_SELECTOR, ".chart svg").size["height"] > 50
    assert log(page, "browser") == []


def test_every_figure_of_messages_is_drawn_and_the_console_is_silent(
    browser: Driver, messages_html: str, tmp_path: Path
) -> None:
    path = tmp_path / "messages.html"
    path.write_text(messages_html, encoding="utf-8")
    page = opened(browser, path)
    figures = page.find_elements(By.CSS_SELECTOR, "figure[data-panel]")
    assert len(figures) >= 9
    for figure in figures:
        assert marks(figure, "mark-symbol") + marks(figure, "mark-rect"), figure.get_attribute("data-panel")
    matrix = page.find_element(By.CSS_SELECTOR, "figure[data-panel=pair-matrix-latency]")
    assert len(marks(matrix, "mark-rect")) == len(PAIRS)
    assert log(page, "browser") == []


def test_nothing_is_requested_but_the_file_itself(page: Driver, report_file: Path) -> None:
    messages = [json.loads(entry["message"])["message"] for entry in log(page, "performance")]
    asked = {
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {report_file.as_uri()}


def test_switching_an_algorithm_off_takes_its_curve_away_and_back(page: Driver) -> None:
    figure = page.find_element(By.CSS_SELECTOR, SIZE_FIGURE)
    everything = set(ALGORITHMS["scatter"])
    until_names(page, figure, everything)
    points = len(marks(figure, "mark-symbol"))
    box = figure.find_element(By.CSS_SELECTOR, "input[value=bruck]")
    box.click()
    until_names(page, figure, everything - {"bruck"})
    assert len(marks(figure, "mark-symbol")) == points - len(SIZES)
    box.click()
    until_names(page, figure, everything)


def test_the_keyboard_switches_algorithms_too(page: Driver) -> None:
    figure = page.find_element(By.CSS_SELECTOR, SIZE_FIGURE)
    figure.find_element(By.CSS_SELECTOR, "input[value=bruck]").send_keys(Keys.SPACE)
    until_names(page, figure, set(ALGORITHMS["scatter"]) - {"bruck"})
    figure.find_element(By.CSS_SELECTOR, "[data-switch=none]").send_keys(Keys.ENTER)
    until_names(page, figure, set())
    figure.find_element(By.CSS_SELECTOR, "[data-switch=all]").send_keys(Keys.ENTER)
    until_names(page, figure, set(ALGORITHMS["scatter"]))


def test_choosing_ranks_draws_their_cells(page: Driver) -> None:
    figure = page.find_element(By.CSS_SELECTOR, SIZE_FIGURE)
    assert not figure.find_elements(By.CSS_SELECTOR, "[aria-label*='status: oversubscribed']")
    Select(figure.find_element(By.TAG_NAME, "select")).select_by_visible_text("8 ranks")
    WebDriverWait(page, SECONDS).until(
        lambda _: figure.find_elements(By.CSS_SELECTOR, "[aria-label*='status: oversubscribed']")
    )
    assert not figure.find_elements(By.CSS_SELECTOR, "[aria-label*='ranks: 4;']")


def test_linear_axes_are_a_switch(page: Driver) -> None:
    figure = page.find_element(By.CSS_SELECTOR, SIZE_FIGURE)

    def labels() -> set[str]:
        return {text.text for text in figure.find_elements(By.CSS_SELECTOR, ".role-axis-label text")}

    assert "64 B" in labels()
    figure.find_element(By.CSS_SELECTOR, "input[data-linear]").click()
    WebDriverWait(page, SECONDS, ignored_exceptions=(Exception,)).until(lambda _: {"0 B", "512 KiB"} <= labels())
    assert "64 B" not in labels()
    assert names(figure) == set(ALGORITHMS["scatter"])


def test_dark_mode_turns_page_and_figures(page: Driver) -> None:
    body = page.find_element(By.TAG_NAME, "body")
    name = page.find_element(By.CSS_SELECTOR, f"{SIZE_FIGURE} .role-mark.mark-text text")
    assert brightness(computed_color(page, body, "backgroundColor")) > 0.9
    assert brightness(computed_color(page, name, "fill")) < 0.3
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    assert brightness(computed_color(page, body, "backgroundColor")) < 0.2
    assert brightness(computed_color(page, name, "fill")) > 0.7


def test_paper_is_light_shows_every_figure_and_opens_every_table(page: Driver) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    assert brightness(computed_color(page, page.find_element(By.TAG_NAME, "body"), "backgroundColor")) > 0.9
    for chart in page.find_elements(By.CSS_SELECTOR, ".chart svg"):
        assert chart.is_displayed()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": dark})
    closed = page.find_elements(By.CSS_SELECTOR, "details:not([open])")
    assert closed
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert not page.find_elements(By.CSS_SELECTOR, "details:not([open])")
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert len(page.find_elements(By.CSS_SELECTOR, "details:not([open])")) == len(closed)


def test_the_pdf_has_all_sections_on_several_pages(page: Driver) -> None:
    printed = page.execute_cdp_cmd("Page.printToPDF", {"generateTaggedPDF": True, "generateDocumentOutline": True})
    pdf = base64.b64decode(printed["data"])
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf)) > 3
    outline = {outline_text(title) for title in re.findall(rb"/Title ?(<[0-9A-Fa-f]+>|\((?:\\.|[^\\)])*\))", pdf)}
    headings = {heading.text for heading in page.find_elements(By.TAG_NAME, "h2")}
    assert len(headings) >= 11
    assert headings <= outline


def outline_text(title: bytes) -> str:
    """A PDF string: hexadecimal UTF-16 in angle brackets, or bytes in parentheses."""
    if title.startswith(b"<"):
        return bytes.fromhex(title[1:-1].decode()).decode("utf-16")
    return re.sub(rb"\\(.)", rb"\1", title[1:-1]).decode("latin-1")


def test_figures_of_several_panels_fill_their_frames_and_no_more(browser: Driver, tmp_path: Path) -> None:
    placed = [
        replace(result, cell=replace(result.cell, placement=placement))
        for placement in ("category:1:2", "node")
        for result in synthetic_results()
        if result.cell.collective == "scatter"
    ]
    path = tmp_path / "report.html"
    path.write_text(
        render(load(write_campaign(tmp_path / "campaign", synthetic_header(), placed, []))), encoding="utf-8"
    )
    opened(browser, path)
    charts = browser.find_elements(
        By.CSS_SELECTOR, "figure[data-panel^=placements] .chart, figure[data-panel^=residuals] .chart"
    )
    assert len(charts) >= 2
    for chart in charts:
        frame, content = browser.execute_script(
            "return [arguments[0].clientWidth, arguments[0].querySelector('svg').getBoundingClientRect().width]", chart
        )
        assert 0.85 * frame <= content <= frame


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


@pytest.mark.parametrize(
    ("width", "media"), [(1400, "screen"), (800, "screen"), (390, "screen"), (690, "print")], ids=str
)
def test_nothing_is_wider_than_the_page_and_no_text_leaves_its_figure(
    browser: Driver, report_file: Path, messages_html: str, tmp_path: Path, width: int, media: str
) -> None:
    messages = tmp_path / "messages.html"
    messages.write_text(messages_html, encoding="utf-8")
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for path in (report_file, messages):
            opened(browser, path)
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
            assert browser.execute_script(BEYOND) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_narrow_tables_stand_next_to_each_other_in_print(browser: Driver, report_file: Path) -> None:
    size = {"width": 1000, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(browser, report_file)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        tables = browser.find_elements(By.CSS_SELECTOR, "#study-tables .narrow")
        assert len({table.rect["y"] for table in tables}) < len(tables)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_long_settings_are_broken_into_lines(browser: Driver, tmp_path: Path) -> None:
    setting = "mpirun " + " ".join(f"--mca coll_tuned_parameter_{i} {i}" for i in range(12)) + " " + 200 * "x"
    header = synthetic_header() | {"settings": {name: dict.fromkeys(ALGORITHMS[name], setting) for name in ALGORITHMS}}
    path = tmp_path / "report.html"
    results = [result for result in synthetic_results() if result.cell.ranks == 2]
    path.write_text(render(load(write_campaign(tmp_path / "c", header, results, []))), encoding="utf-8")
    phone = {"width": 390, "height": 1000, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        opened(browser, path)
        tables = browser.find_elements(By.CSS_SELECTOR, "#gains table")
        assert any("--mca coll_tuned_parameter_11 11" in table.text for table in tables)
        for table in tables:
            assert browser.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", table) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_scripts_every_figure_is_there(browser: Driver, report_file: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(report_file.as_uri())
        figures = browser.find_elements(By.CSS_SELECTOR, "figure[data-panel]")
        assert len(figures) >= 7 * len(ALGORITHMS)
        for figure in figures:
            assert figure.find_element(By.CSS_SELECTOR, ".chart svg").size["height"] > 50
        assert not [button for button in browser.find_elements(By.TAG_NAME, "button") if button.is_displayed()]
        assert browser.execute_script(BEYOND) == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_verdict_and_ratios_stand_above_warnings_and_all_other_figures(page: Driver) -> None:
    order = ["#verdict", "#speedup", "#gains", "#caveats", "#size", "#map", "#tables", "#provenance"]
    tops = [page.find_element(By.CSS_SELECTOR, selector).location["y"] for selector in order]
    assert tops == sorted(tops)
    figures = page.find_elements(By.CSS_SELECTOR, "figure[data-panel]")
    assert figures[0].get_attribute("data-panel") == "speedup-bcast"


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


def test_an_algorithm_has_one_color_in_all_figures(page: Driver) -> None:
    found: dict[str, set[str]] = {}
    figures: dict[str, set[str]] = {}
    neutral = {
        "none",
        "rgba(0, 0, 0, 0)",
        *(page.execute_script(f"return {color}") for color in map(color_of, ("unsure", "paper"))),
    }
    for name, fill, stroke, figure in page.execute_script(MARKS):
        if "spread" not in figure:  # its shade is the spread
            found.setdefault(name, set()).update({fill, stroke} - neutral)
            figures.setdefault(name, set()).add(figure)
    assert found.keys() >= {name for names in ALGORITHMS.values() for name in names}
    assert all(len(colors) == 1 for colors in found.values()), found
    assert len(figures["binomial"]) >= 6


def color_of(name: str) -> str:
    """A script expression: a color of the style sheet as computed styles write it."""
    return (
        "(() => { const part = document.body.appendChild(document.createElement('i'));"
        f" part.style.color = 'var(--{name})'; const found = getComputedStyle(part).color;"
        " part.remove(); return found; })()"
    )


def test_the_default_is_drawn_on_top(page: Driver) -> None:
    figure = page.find_element(By.CSS_SELECTOR, SIZE_FIGURE)
    text = computed_color(page, page.find_element(By.TAG_NAME, "body"), "color")
    lines = figure.find_elements(By.CSS_SELECTOR, ".role-mark.mark-line path")
    assert [computed_color(page, line, "stroke") == text for line in lines] == [False] * (len(lines) - 1) + [True]


def test_choosing_ranks_moves_undecided_algorithms_into_the_line_of_text(browser: Driver, tmp_path: Path) -> None:
    equal = [
        replace(result, median_us=float(result.launch))
        if result.cell.ranks == 2 and result.cell.algorithm.name in ("default", "bruck")
        else result
        for result in synthetic_results()
        if result.cell.collective == "scatter"
    ]
    path = tmp_path / "report.html"
    path.write_text(render(load(write_campaign(tmp_path / "c", synthetic_header(), equal, []))), encoding="utf-8")
    page = opened(browser, path)
    figure = page.find_element(By.CSS_SELECTOR, "figure[data-panel=speedup-scatter]")
    line = figure.find_element(By.CSS_SELECTOR, ".undecided")
    assert line.text == "No difference from the default is shown at any size: binomial."
    Select(figure.find_element(By.TAG_NAME, "select")).select_by_visible_text("2 ranks")
    WebDriverWait(page, SECONDS).until(lambda _: "bruck" in line.text, f"the line says {line.text}")
    panels = {
        text.text for text in figure.find_elements(By.CSS_SELECTOR, ".role-column-header text, .role-header text")
    }
    assert "bruck" not in panels


def test_a_hostile_campaign_runs_nothing(browser: Driver, tmp_path: Path) -> None:
    header: dict[str, Any] = synthetic_header(HOSTILE_TITLE)
    header["machine"]["name"] = HOSTILE_TITLE
    lines = [result.as_line() | {"machine": HOSTILE_TITLE} for result in synthetic_results()[:100]]
    folder = write_campaign(tmp_path / "campaign", header, [], synthetic_launches())
    write_lines(folder / "results.jsonl", lines)
    path = tmp_path / "report.html"
    path.write_text(render(load(folder)), encoding="utf-8")
    page = opened(browser, path)
    assert page.execute_script("return window.harmed") is None
    assert page.find_element(By.TAG_NAME, "h1").text == HOSTILE_TITLE
    assert log(page, "browser") == []
