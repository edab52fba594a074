"""Formulas such as `log2(latency) ~ ranks + log2(size) - 1`. They are parsed, never evaluated as code.

    formula  = factor "~" term { "+" term } [ "-" "1" ]
    term     = factor { ":" factor } | "0" | "1"
    factor   = ( variable | function "(" variable ")" ) [ "^" digit ]

As in R there is an intercept unless `- 1` or `+ 0` removes it, and `a:b` is a product.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from timpani.errors import UserError, unknown
from timpani.stats.curve import Array

FUNCTIONS: dict[str, Callable[[Array], Array]] = {"log2": np.log2, "log": np.log, "sqrt": np.sqrt}

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|\d+|\S)")
_EXAMPLE = "write it as 'log2(latency) ~ ranks + log2(size) - 1'"
_HELP = "timpani fit --help"


@dataclass(frozen=True)
class Factor:
    """A variable, optionally inside a function, optionally raised to a power."""

    variable: str
    function: str = ""
    power: int = 1

    def __str__(self) -> str:
        inner = f"{self.function}({self.variable})" if self.function else self.variable
        return inner if self.power == 1 else f"{inner}^{self.power}"

    def values(self, columns: Mapping[str, Array]) -> Array:
        """Values, shape (rows,); not finite where a function is undefined, such as log2 at size 0."""
        column = columns[self.variable]
        with np.errstate(divide="ignore", invalid="ignore"):
            applied = FUNCTIONS[self.function](column) if self.function else column
        return np.asarray(applied**self.power)


Term = tuple[Factor, ...]


def term_name(term: Term) -> str:
    """`ranks:log2(size)`; the empty product is the intercept."""
    return ":".join(map(str, term)) or "intercept"


@dataclass(frozen=True)
class Formula:
    """A linear model; the empty product among the terms is the intercept."""

    response: Factor
    terms: tuple[Term, ...]

    @property
    def has_intercept(self) -> bool:
        return () in self.terms

    def __str__(self) -> str:
        right = [term_name(term) for term in self.terms if term]
        return f"{self.response} ~ {' + '.join(right) or '1'}{'' if self.has_intercept else ' - 1'}"

    def design(self, columns: Mapping[str, Array]) -> Array:
        """Design matrix, shape (rows, terms)."""
        rows = len(next(iter(columns.values())))
        products = [
            np.prod([factor.values(columns) for factor in term], axis=0) if term else np.ones(rows)
            for term in self.terms
        ]
        return np.stack(products, axis=1)


def parse_formula(text: str, variables: Iterable[str]) -> Formula:
    """Read a formula over `variables`; UserError names what is wrong and the nearest valid name."""
    return _Parser(text, frozenset(variables)).formula()


class _Parser:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str, variables: frozenset[str]) -> None:
        self.text = text
        self.variables = variables
        self.tokens = [match[1] for match in _TOKEN.finditer(text)]

    def formula(self) -> Formula:
        response = self._factor()
        if not self._takes("~"):
            raise self._error("has no ~ after the response")
        terms: list[Term] = []
        intercept = True
        adds = True
        while True:
            if self._next in ("0", "1"):
                intercept = adds == (self._take() == "1")
            elif adds:
                terms.append(self._term())
            else:
                raise self._error("subtracts a term; only the intercept, 1, can be subtracted")
            if not self.tokens:
                break
            adds = self._takes("+")
            if not adds and not self._takes("-"):
                raise self._error(f"has {self._next!r} instead of + or -")
        if len(set(terms)) < len(terms):
            raise self._error("names a term twice")
        if not terms and not intercept:
            raise self._error("has no terms")
        return Formula(response, ((),) * intercept + tuple(terms))

    def _term(self) -> Term:
        factors = [self._factor()]
        while self._takes(":"):
            factors.append(self._factor())
        return tuple(factors)

    def _factor(self) -> Factor:
        name = self._take()
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise self._error(f"has {name!r} instead of a variable")
        function = ""
        if self._takes("("):
            if name not in FUNCTIONS:
                raise unknown("function", name, FUNCTIONS, _HELP)
            function, name = name, self._take()
            if not self._takes(")"):
                raise self._error(f"lacks the ) after {function}({name}")
        if name not in self.variables:
            raise unknown("variable", name, self.variables, _HELP)
        if not self._takes("^"):
            return Factor(name, function)
        power = self._take()
        if not re.fullmatch("[2-9]", power):
            raise self._error(f"has the power {power!r}, not 2 to 9")
        return Factor(name, function, int(power))

    @property
    def _next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def _takes(self, token: str) -> bool:
        found = self._next == token
        if found:
            self._take()
        return found

    def _take(self) -> str:
        if not self.tokens:
            raise self._error("ends too early")
        return self.tokens.pop(0)

    def _error(self, how: str) -> UserError:
        return UserError(f"the formula {self.text!r} {how}", _EXAMPLE)
