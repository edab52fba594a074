"""Which of Timpani's schedules add in an order that was read: the verifier executes them on symbols."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from timpani.errors import UserError
from timpani.libraries.available import built_in_catalogue
from timpani.libraries.catalogue import Catalogue
from timpani.native.build import build_without_mpi
from timpani.native.children import crash
from timpani.native.mpi import Mpi
from timpani.order.reading import ELEMENT_BYTES, Reading
from timpani.order.tree import SummationTree, tree_of_json
from timpani.study.cell import Algorithm

Orders = tuple[tuple[SummationTree, ...], ...]
"""Of each rank the different orders along its result, by their first element."""


@dataclass
class Schedules:
    """The orders of Timpani's schedules, by the verifier in `programs`."""

    programs: Path
    own: Catalogue
    _known: dict[tuple[str, int, int, int], Mapping[Algorithm, Orders]] = field(default_factory=dict)

    @classmethod
    def of_programs(cls, mpi: Mpi) -> Self:
        """By the programs built for a library."""
        return cls(build_without_mpi(mpi), built_in_catalogue(mpi))

    def names(self, reading: Reading) -> tuple[Algorithm, ...]:
        """All schedules that add like a reading; none if it has elements without an order."""
        cell = reading.cell
        if not reading.is_readable:
            return ()
        orders = self.orders(cell.collective, cell.ranks, cell.message_bytes // ELEMENT_BYTES, reading.root)
        return tuple(name for name, known in orders.items() if known == reading.orders)

    def orders(self, collective: str, ranks: int, count: int, root: int) -> Mapping[Algorithm, Orders]:
        """By schedule how it adds a vector of `count` elements: where each rank has many, as if it had fewer."""
        count = count if count < 4 * ranks else 2 * ranks + count % ranks
        key = (collective, ranks, count, root)
        if key not in self._known:
            names = [
                Algorithm(self.own.provider, info.name, parameters)
                for info in self.own.algorithms.get(collective, ())
                if info.restrictions.admit(ranks) and not info.restrictions.topology
                for parameters in info.trials(ranks)
            ]
            self._known[key] = self.execute(names, *key)
        return self._known[key]

    def execute(
        self, names: Sequence[Algorithm], collective: str, ranks: int, count: int, root: int
    ) -> Mapping[Algorithm, Orders]:
        """How each of Timpani's schedules named adds a vector of `count` elements."""
        words = map(str, ("order", ranks, count, root, *(f"{collective}/{name.plain}" for name in names)))
        answer = subprocess.run(
            [str(self.programs / "timpani-verify"), *words], capture_output=True, text=True, check=False
        )
        if answer.returncode:
            why = crash(answer.returncode) or answer.stderr.strip()
            raise UserError(f"the orders of {collective} are unknown: {why}", "`timpani verify` may show more")
        lines = map(json.loads, answer.stdout.splitlines())
        return {
            name: tuple(tuple(map(tree_of_json, orders)) for orders in line)
            for name, line in zip(names, lines, strict=True)
        }
