"""Pseudonyms of hosts, users, switches and domains: they replace names in texts, and find names that remain."""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase

from timpani.errors import UserError
from timpani.machine.nodes.node_set import expand, fold

HOST, USER, MACHINE, SWITCH = "host", "user", "machine", "switch"
_DOMAIN = "domain"

_HOMES = ("/home/", "/Users/", "/users/")
"""Folders of home folders: the next part of a path is a user's name."""

HOME = re.compile(rf"(?:{'|'.join(_HOMES)})([A-Za-z0-9_][A-Za-z0-9_.-]*)", re.ASCII)

_NODE_SET = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*\[[0-9,-]+\])+[A-Za-z0-9._-]*", re.ASCII)
_HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
_BETWEEN_PARTS = re.compile(r"([.-])")
_DIGITS = re.compile(r"\\?\d+")

_MIN_INSIDE = 5
"""Characters of a host's or user's name without digits that is replaced inside of longer words, too."""


def node_sets(text: str) -> dict[str, tuple[str, ...]]:
    """The node sets with brackets in a text, with their nodes."""
    found = {}
    for each in set(_NODE_SET.findall(text)):
        try:
            found[each] = expand(each)
        except UserError:  # brackets of another meaning
            continue
    return found


@dataclass(frozen=True)
class Pseudonyms:
    """Pseudonyms by name, in lower case.

    inside  names that are also replaced inside of longer words
    words   names that are common words: replaced in fields that hold a name and in paths of homes, not in other texts
    counts  how many pseudonyms there are of each kind
    """

    by_name: Mapping[str, str]
    inside: frozenset[str]
    words: frozenset[str]
    counts: Mapping[str, int]
    _pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", _pattern(self.by_name, self.inside, self.words))

    @classmethod
    def new(cls, names: Mapping[str, Iterable[str]], common: Iterable[str]) -> "Pseudonyms":
        """Pseudonyms of `names` by kind, numbered in their order; `common` are words that texts need.

        One host with and without its domain has one pseudonym.
        """
        each = {kind: [name.lower() for name in found if name] for kind, found in names.items()}
        hosts = each.get(HOST, [])
        each[_DOMAIN] = [domain for host in hosts if "." in (domain := _split(host)[1])]
        every = {name for found in each.values() for name in found}
        by_name: dict[str, str] = {}
        counts = {}
        for kind, found in each.items():
            prefix = _prefix(kind, every)
            whole = _with_domains(found) if kind == HOST else {}
            numbers: dict[str, int] = {}
            for name in found:
                number = numbers.setdefault(whole.get(name, name), len(numbers) + 1)
                by_name.setdefault(name, f"{prefix}{number}")
            for short, name in whole.items():
                by_name.setdefault(short, by_name[name])
            counts[kind] = len(numbers)
        words = frozenset(by_name) & {word.lower() for word in common}
        long = {name for kind in (HOST, USER) for name in each.get(kind, ()) if len(name) >= _MIN_INSIDE}
        inside = frozenset(name for name in long - words if not re.search(r"\d", name))
        return cls(by_name, inside, words, counts)

    def pseudonym(self, name: str) -> str:
        """The pseudonym of a name; other texts with their names replaced."""
        return self.by_name.get(name.lower()) or self.replaced(name)

    def replaced(self, text: str) -> str:
        """A text with all names replaced, also in node sets with brackets."""
        if "[" in text:
            for written, nodes in node_sets(text).items():
                if any(node.lower() in self.by_name for node in nodes):
                    text = text.replace(written, fold(map(self.pseudonym, nodes)))
        return self._pattern.sub(self._pseudonym, text)

    def in_host_file(self, text: str) -> str:
        """A host file with its hosts replaced."""
        return _HOST_NAME.sub(lambda found: self.by_name.get(found[0].lower(), found[0]), text)

    def find(self, text: str) -> Iterator[str]:
        """The names that the text holds."""
        for found in self._pattern.finditer(text):
            if self._pseudonym(found) != found[0]:
                yield found[0]

    def _pseudonym(self, found: re.Match[str]) -> str:
        whole = self.by_name.get(found[0].lower())
        if whole is not None:
            return whole
        parts = _BETWEEN_PARTS.split(found[0])  # an unknown name of this form may have a known one as a part
        known = (self.by_name.get(part.lower()) if part.lower() not in self.words else None for part in parts)
        return "".join(new or part for new, part in zip(known, parts, strict=True))


def _split(host: str) -> tuple[str, str]:
    """A host's name without its domain, and the domain; an address has none."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        name, _, domain = host.partition(".")
        return name, domain
    return host, ""


def _with_domains(hosts: Iterable[str]) -> dict[str, str]:
    """By short name the name with its domain, where only one has this short name."""
    names: dict[str, set[str]] = {}
    for host in hosts:
        short, domain = _split(host)
        if domain:
            names.setdefault(short, set()).add(host)
    return {short: found.pop() for short, found in names.items() if len(found) == 1}


def _prefix(kind: str, names: Iterable[str]) -> str:
    """What pseudonyms of a kind begin with: no name is a pseudonym, or is found in one."""
    every = list(names)
    for prefix in (kind, f"anon{kind}", *(f"{kind[0]}name{letter}" for letter in ascii_lowercase)):
        pseudonym = re.compile(rf"{prefix}\d*")
        if not any(pseudonym.fullmatch(name) or (len(name) >= _MIN_INSIDE and name in prefix) for name in every):
            return prefix
    raise UserError(f"no pseudonym of a {kind} differs from all names", "share the campaign without --anonymize")


def _pattern(by_name: Iterable[str], inside: Iterable[str], words: Iterable[str]) -> re.Pattern[str]:
    """Finds names in texts. Names that differ in numbers alone are one form, since a machine may have thousands."""
    whole = {_DIGITS.sub(r"\\d+", re.escape(name)) for name in set(by_name) - set(inside) - set(words)}
    homes = "|".join(f"(?<={folder})" for folder in _HOMES)
    ways = [
        rf"(?<![A-Za-z0-9])(?:{_alternatives(whole)})(?![A-Za-z0-9])" if whole else "",
        f"(?:{_alternatives(map(re.escape, inside))})" if inside else "",
        rf"(?:{homes})(?:{_alternatives(map(re.escape, words))})(?![A-Za-z0-9_.-])" if words else "",
    ]
    return re.compile("|".join(filter(None, ways)) or r"(?!)", re.ASCII | re.IGNORECASE)


def _alternatives(patterns: Iterable[str]) -> str:
    """One of these, the longest first."""
    return "|".join(sorted(patterns, key=lambda each: (-len(each), each)))
