"""Damage to a file's content as it happens, and as somebody means it."""

from random import Random

NASTY = (
    *(b"-1", b"0", b"1.5", b"1e400", b"9" * 26, b"9" * 5000, b"9223372036854775807"),
    *(b"NaN", b"-Infinity", b"null", b"true", b'""', b"[]", b"{}", b"[" * 1500, b'{"a":' * 3000, b"a.b"),
    *(b"\x1b[31m", b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\\ud800", b"\xc2\xa0", b"\xd9\xa3", b" "),
    *(b",", b'"', b"#", b"[0-99]x[0-99]", b"[0-9]" * 20, b"(x999999999)", b"0-99999999", b"Pass"),
)


def mutate(raw: bytes, random: Random) -> bytes:
    """One to four changes of `raw`: bits, bytes, words and lines that are lost, copied, moved or replaced."""
    for _ in range(random.randint(1, 4)):
        raw = random.choice(_CHANGES)(raw, random)
    return raw


def _flipped(raw: bytes, random: Random) -> bytes:
    place = random.randrange(len(raw) + 1)
    return raw[:place] + bytes(byte ^ (1 << random.randrange(8)) for byte in raw[place : place + 1]) + raw[place + 1 :]


def _cut(raw: bytes, random: Random) -> bytes:
    first, last = _span(raw, random)
    return raw[:first] + raw[last:]


def _copied(raw: bytes, random: Random) -> bytes:
    (first, last), place = _span(raw, random), random.randrange(len(raw) + 1)
    return raw[:place] + raw[first:last] + raw[place:]


def _truncated(raw: bytes, random: Random) -> bytes:
    return raw[: random.randrange(len(raw) + 1)]


def _nasty(raw: bytes, random: Random) -> bytes:
    """A strange word in place of a number or a word, or between any two bytes."""
    first, last = _word(raw, random) if random.random() < 0.7 else (random.randrange(len(raw) + 1),) * 2
    return raw[:first] + random.choice(NASTY) + raw[last:]


def _lines(raw: bytes, random: Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    if lines:
        change, number = random.randrange(4), random.randrange(len(lines))
        if change == 0:
            del lines[number]
        elif change == 1:
            lines.insert(random.randrange(len(lines) + 1), lines[number])
        elif change == 2:
            lines.append(lines.pop(number))
        else:
            lines[number] = lines[number].replace(*random.choice([(b"1", b"7"), (b"0.", b"9."), (b'": ', b'": -')]))
    return b"".join(lines)


def _span(raw: bytes, random: Random) -> tuple[int, int]:
    first = random.randrange(len(raw) + 1)
    return first, min(len(raw), first + random.choice((1, 2, 8, 64)))


def _word(raw: bytes, random: Random) -> tuple[int, int]:
    """Where a run of letters, digits and points begins and ends."""
    first = last = random.randrange(len(raw) + 1)
    while first > 0 and (raw[first - 1 : first].isalnum() or raw[first - 1 : first] in b".-"):
        first -= 1
    while last < len(raw) and (raw[last : last + 1].isalnum() or raw[last : last + 1] in b".-"):
        last += 1
    return first, last


_CHANGES = (_flipped, _cut, _copied, _truncated, _nasty, _nasty, _lines)
