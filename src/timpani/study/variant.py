"""A variant: a named way to start the same measurement, by settings of the library, its launcher or its environment.

Text is read as a shell reads words, and never reaches one. docs/study-files.md has the grammar.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from timpani.errors import UserError, unknown
from timpani.study.cell import DEFAULT, split_algorithms
from timpani.study.sizes import VALUE, parse_sizes

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+^-]{0,59}", re.ASCII)
_ENVIRONMENT_NAME = re.compile(r"[A-Z_][A-Za-z0-9_]*", re.ASCII)
_PARAMETER_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_SERIES = re.compile(r"[0-9]+[kKMG]?i?B?:[0-9]+[kKMG]?i?B?([*+].*)?", re.ASCII)
_PARAMETER_OPTIONS = ("--mca", "-mca", "--gmca", "-gmca")
_PRELOAD = "LD_PRELOAD"
_MAX_VARIANTS = 200  # variants of one study: each is started in every block

_EXAMPLE = "write for example 'no-vader: --mca btl ^vader' or 'big: OMPI_MCA_btl_vader_eager_limit=65536'"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Variant:
    """One way to start the measurement.

    parameters   of the library by its own names, such as MCA parameters
    environment  variables of the launcher and of every rank
    arguments    further words for the launcher, before the program
    mpi          another library, as `--mpi` takes it; empty: the campaign's
    source       a shell script whose variables the starts get; empty: none
    modules      environment modules to load before
    preload      a library that is loaded before every rank; empty: none
    algorithms   what it measures of every collective; empty: the study's algorithms
    """

    parameters: Pairs = ()
    environment: Pairs = ()
    arguments: tuple[str, ...] = ()
    mpi: str = ""
    source: str = ""
    modules: tuple[str, ...] = ()
    preload: str = ""
    algorithms: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it sets nothing."""
        return not any(self.settings())

    def __str__(self) -> str:
        """Its settings as `parse_variant` reads them."""
        parameters = [word for name, value in self.parameters for word in ("--mca", name, value)]
        named = (("--mpi", self.mpi), ("--source", self.source), ("--preload", self.preload))
        options = [word for option, value in named if value for word in (option, value)]
        modules = [word for module in self.modules for word in ("--module", module)]
        variables = [f"{name}={value}" for name, value in self.environment]
        return shlex.join([*variables, *parameters, *options, *modules, *self.arguments])

    def settings(self) -> Iterator[tuple[str, str]]:
        """Each name that it sets and the value, whoever reads it."""
        yield from self.parameters
        yield from self.environment
        named = (("mpi", self.mpi), ("source", self.source), ("preload", self.preload))
        yield from ((name, value) for name, value in named if value)
        yield from (("module", module) for module in self.modules)
        if self.arguments:
            yield "arguments", shlex.join(self.arguments)


PLAIN = Variant()
"""Nothing is set."""


def parse_variants(texts: Iterable[str]) -> dict[str, Variant]:
    """The variants of several `--variant 'NAME: SETTINGS'`; UserError where a name stands twice."""
    return _each_once(map(parse_named, texts))


def _each_once(named: Iterable[tuple[str, Variant]]) -> dict[str, Variant]:
    found: dict[str, Variant] = {}
    for name, variant in named:
        if name in found:
            raise UserError(f"two variants are called {name!r}", "give each another name")
        found[check_name(name)] = variant
    return found


def parse_named(text: str) -> tuple[str, Variant]:
    """The name and the variant of `NAME: SETTINGS`."""
    name, colon, settings = text.partition(":")
    if not colon or not settings.strip():
        raise UserError(f"{text!r} is not a variant", _EXAMPLE)
    return check_name(name.strip()), parse_variant(settings)


def check_name(name: str) -> str:
    """`name`, which tables, figures and file names show; UserError where they can't."""
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is not a name of a variant", "use up to 60 letters, digits and . _ = + ^ -")
    return name


def parse_variant(text: str) -> Variant:
    """The variant of `--mca NAME VALUE`, `NAME=VALUE`, `--mpi`, `--source`, `--module`, `--preload`, and the launcher's
    other words."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"{text!r} can't be read ({error})", "close the quotation mark") from None
    parameters: list[tuple[str, str]] = []
    environment: list[tuple[str, str]] = []
    arguments: list[str] = []
    options: dict[str, list[str]] = {"--mpi": [], "--source": [], "--module": [], "--preload": []}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word in _PARAMETER_OPTIONS:
            parameters.append((_next(rest, word, "NAME VALUE"), _next(rest, word, "NAME VALUE")))
        elif word in options:
            options[word].append(_next(rest, word, "VALUE"))
        elif word == "-x" or word in ("-genv", "-env"):
            raise UserError(f"{word} is not needed in a variant", "write NAME=VALUE: all ranks get it")
        elif equals and _ENVIRONMENT_NAME.fullmatch(name):
            environment.append((name, value))
        elif equals and _PARAMETER_NAME.fullmatch(name):
            parameters.append((name, value))
        elif not arguments and not word.startswith("-"):
            raise UserError(f"{word!r} in {text!r} is not a setting", _EXAMPLE)
        else:
            arguments.append(word)
    variant = Variant(
        tuple(parameters),
        tuple(environment),
        tuple(arguments),
        mpi=_at_most_one(options["--mpi"], "--mpi"),
        source=_at_most_one(options["--source"], "--source"),
        modules=tuple(options["--module"]),
        preload=_at_most_one(options["--preload"], "--preload"),
    )
    return _checked(variant)


def _next(words: Iterator[str], option: str, expected: str) -> str:
    try:
        return next(words)
    except StopIteration:
        raise UserError(f"{option} lacks a value", f"write {option} {expected}") from None


def _at_most_one(values: list[str], option: str) -> str:
    if len(values) > 1:
        raise UserError(f"{option} stands twice in one variant", "keep one")
    return values[0] if values else ""


def _checked(variant: Variant) -> Variant:
    names = [name for name, _ in (*variant.parameters, *variant.environment)]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{name} is set twice in one variant", "keep one")
    for name, _ in variant.parameters:
        if not _PARAMETER_NAME.fullmatch(name):
            raise UserError(f"{name!r} is not a parameter's name", _EXAMPLE)
    if _PRELOAD in names and variant.preload:
        raise UserError(f"{_PRELOAD} is set twice in one variant", "keep --preload")
    return variant


def variants_of_table(table: Mapping[str, Any]) -> dict[str, Variant]:
    """The variants of the table `[variants]` of a study file.

    A value is a text as `parse_variant` reads it, a series of values of the parameter that is its key, or a table of
    settings, in which a series makes a variant of each value.
    """
    found = _each_once(named for key, value in table.items() for named in _of_entry(key, value))
    if len(found) > _MAX_VARIANTS:
        raise UserError(f"{len(found)} variants are more than {_MAX_VARIANTS}", "choose fewer, or larger steps")
    return found


def _of_entry(key: str, value: Any) -> Iterator[tuple[str, Variant]]:
    if isinstance(value, Variant):
        yield key, value
    elif _is_series(value):
        yield from _swept(key, {key: value}, "=")
    elif isinstance(value, str):
        yield key, parse_variant(value) if value.strip() else PLAIN
    elif isinstance(value, Mapping):
        yield from _swept(key, value, "-")
    else:
        raise UserError(f"variant {key!r} can't be {value!r}", _EXAMPLE)


_FIELDS = tuple(field.name for field in fields(Variant))


def _swept(name: str, table: Mapping[str, Any], joint: str) -> Iterator[tuple[str, Variant]]:
    """The variant of a table of settings, or one for each combination of values where some are series."""
    base = _without_settings(name, table)
    settings = {key: value for key, value in table.items() if key not in _FIELDS}
    series = {key: parse_sizes(str(value), VALUE) for key, value in settings.items() if _is_series(value)}
    for combination in product(*series.values()):
        chosen = {**settings, **dict(zip(series, combination, strict=True))}
        ends = "+".join(_short(value) for value in combination)
        pairs = [(key, _text(name, key, value)) for key, value in chosen.items()]
        own = [pair for pair in pairs if _PARAMETER_NAME.fullmatch(pair[0])]
        variables = [pair for pair in pairs if pair not in own]
        for key, _ in variables:
            if not _ENVIRONMENT_NAME.fullmatch(key):
                raise unknown(f"key of variant {name}", key, _FIELDS, "docs/study-files.md")
        variant = replace(base, parameters=(*base.parameters, *own), environment=(*base.environment, *variables))
        yield f"{name}{joint}{ends}" if ends else name, _checked(variant)


def _without_settings(name: str, table: Mapping[str, Any]) -> Variant:
    """The variant of the keys of a table that are fields of Variant; parameters and environment as a dump has them."""
    values: dict[str, Any] = {}
    for key in _FIELDS:
        given = table.get(key, getattr(PLAIN, key))
        if isinstance(getattr(PLAIN, key), str):
            if not isinstance(given, str):
                raise UserError(f"{key} of variant {name!r} can't be {given!r}", "write a text")
            values[key] = given
        elif key in ("parameters", "environment"):
            pairs = given.items() if isinstance(given, Mapping) else given
            if not isinstance(given, (Mapping, list, tuple)):
                raise UserError(f"{key} of variant {name!r} can't be {given!r}", "write a table")
            values[key] = tuple((str(each), _text(name, str(each), value)) for each, value in pairs)
        elif isinstance(given, str):
            values[key] = split_algorithms(given) if key == "algorithms" else tuple(shlex.split(given))
        elif isinstance(given, (list, tuple)) and all(isinstance(each, str) for each in given):
            values[key] = tuple(given)
        else:
            raise UserError(f"{key} of variant {name!r} can't be {given!r}", "write a list of texts")
    return Variant(**values)


def _is_series(value: Any) -> bool:
    return isinstance(value, str) and bool(_SERIES.fullmatch(value.strip()))


def _short(value: int) -> str:
    """`64K` for 65536: a value in a variant's name."""
    for unit, factor in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if value >= factor and value % factor == 0:
            return f"{value // factor}{unit}"
    return str(value)


def _text(name: str, key: str, value: Any) -> str:
    """A setting's value as the library reads it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (str, int, float)):
        return str(value)
    raise UserError(f"{key} of variant {name!r} can't be {value!r}", "write a text or a number")


def with_default(variants: Mapping[str, Variant]) -> dict[str, Variant]:
    """`variants` with DEFAULT as the first: nothing set, unless the study says otherwise."""
    return {DEFAULT: variants.get(DEFAULT, PLAIN), **variants}
