"""A table as a grid: each column of values that have details becomes a pair of columns."""

from collections.abc import Callable
from dataclasses import dataclass

from timpani.report.tables.report_table import Table, Value


@dataclass(frozen=True)
class GridColumn:
    """A column of a grid.

    group    the table's column that it is of
    head     what it is called within the group; empty where the group has one column
    details  whether it holds the details of the group's values
    words    whether its entries are words
    """

    group: str
    head: str
    details: bool
    words: bool

    @property
    def title(self) -> str:
        """Its heading in one line."""
        return ", ".join(filter(None, (self.group, self.head)))

    def entry(self, value: Value) -> str:
        """What it holds of a value, without marks."""
        return (value.detail or "–") if self.details else value.text

    def marked(self, value: Value, best: str, marks: str, escaped: Callable[[str], str] = str) -> str:
        """What it holds of a value; `best` and `marks` are formats for the text of the best one and for its marks."""
        text = escaped(self.entry(value))
        if self.details:
            return text
        text = best.format(text) if value.best else text
        return text + marks.format(value.marks) if value.marks else text


def grid_columns(table: Table) -> list[GridColumn]:
    """The columns to the right of the row heads; each with details is a pair."""
    columns = []
    for place, name in enumerate(table.columns):
        words = name in table.words
        if not any(values[place].detail for _, values in table.rows):
            columns.append(GridColumn(name, "", details=False, words=words))
        else:
            columns += [
                GridColumn(name, head, details=bool(half), words=words) for half, head in enumerate(table.heads)
            ]
    return columns


def grid_rows(table: Table) -> list[tuple[str, list[tuple[GridColumn, Value]]]]:
    """Each row's head, and its columns with the value that they are of."""
    columns = grid_columns(table)
    place = {name: index for index, name in enumerate(table.columns)}
    return [(head, [(column, values[place[column.group]]) for column in columns]) for head, values in table.rows]
