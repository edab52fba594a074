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


def colour_of(page: Driver, element: WebElement, name: str) -> str:
    return str(page.execute_script("return getComputedStyle(arguments[0])[arguments[1]]", element, name))


def brightness(colour: str) -> float:
    """0 is black, 1 white."""
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / (3 * 255)


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
    assert brightness(colour_of(page, body, "backgroundColor")) > 0.9
    assert brightness(colour_of(page, name, "fill")) < 0.3
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    assert brightness(colour_of(page, body, "backgroundColor")) < 0.2
    assert brightness(colour_of(page, name, "fill")) > 0.7


def test_paper_is_light_shows_every_figure_and_opens_every_table(page: Driver) -> None:
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark})
    assert brightness(colour_of(page, page.find_element(By.TAG_NAME, "body"), "backgroundColor")) > 0.9
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


def test_a_phone_scrolls_figures_but_not_the_page(browser: Driver, report_file: Path) -> None:
    phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        opened(browser, report_file)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_hostile_campaign_runs_nothing(browser: Driver, tmp_path: Path) -> None:
    header: dict[str, Any] = synthetic_header(HOSTILE_TITLE)
    header["machine"]["name"] = HOSTILE_TITLE
    lines = [result.as_line() | {"machine": HOSTILE_TITLE} for result in synthetic_results()[:100]]
    folder = write_campaign(tmp_path / "campaign", header, [], synthetic_launches())
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = tmp_path / "report.html"
    path.write_text(render(load(folder)), encoding="utf-8")
    page = opened(browser, path)
    assert page.execute_script("return window.harmed") is None
    assert page.find_element(By.TAG_NAME, "h1").text == HOSTILE_TITLE
    assert log(page, "browser") == []
