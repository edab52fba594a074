"""What a confirmation says of a setting: alone, the rules alone, and both together."""

from collections.abc import Iterator, Sequence

from timpani.stats.compare import ALPHA
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent
from timpani.tune.setting_check import SettingPoint, losing, summaries

_HEAD = ("| switched on | collective | ranks | size | gain | against the default |", "|---" * 6 + "|")


def setting_lines(points: Sequence[SettingPoint]) -> Iterator[str]:
    """A line for each thing that was switched on; nothing without a setting."""
    for each in summaries(points):
        yield (
            f"{each.name}: {each.gain:.2f} times as fast as the default on average (geometric mean of "
            f"{counted(each.points, 'point')}), significantly faster at {each.faster} and slower at {each.slower}"
        )
    if lost := losing(points):
        where = ", ".join(f"{each.collective} at {show_size(each.message_bytes)}" for each in lost)
        yield f"the setting alone is slower: {where}"


def setting_section(points: Sequence[SettingPoint]) -> Iterator[str]:
    """The part of the page with every point."""
    if not points:
        return
    yield from ("## Setting and rules", "", *(f"- {line}" for line in setting_lines(points)), "")
    yield f"Gains are the default's time over the time with it switched on, in blocks ({per_cent(1 - ALPHA)} interval)."
    yield from ("", *_HEAD)
    for each in points:
        known = each.gain.low is not None and each.gain.high is not None
        bounds = f" ({each.gain.low:.2f}–{each.gain.high:.2f})" if known else ""
        shown = "not significant" if not each.gain.significant else "faster" if each.gain.ratio > 1 else "slower"
        yield (
            f"| {each.what} | {each.collective} | {each.ranks} | {show_size(each.message_bytes)} | "
            f"{each.gain.ratio:.2f}{bounds} | {shown} |"
        )
    yield ""
