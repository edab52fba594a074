"""`python -m bench [--list] [NAME… [--OPTION VALUE…]]`: what the product must reach; `make bench` measures all.

Each module of this folder is a benchmark and has a function `run`; `common` has what they share. Options are passed to
the benchmarks that are named.
Quiet the machine first: nothing else should run. Each figure is printed with the limit that it must reach.
"""

import pkgutil
import sys
from importlib import import_module
from itertools import takewhile
from types import ModuleType

import bench


def benchmarks() -> dict[str, ModuleType]:
    """All benchmarks by name."""
    names = {file.name for file in pkgutil.iter_modules(bench.__path__)} - {"__main__", "common"}
    return {name: import_module(f"{bench.__name__}.{name}") for name in sorted(names)}


def first_line(module: ModuleType) -> str:
    """The first line of its docstring."""
    return (module.__doc__ or "").partition("\n")[0]


def main(arguments: list[str]) -> None:
    """Run the benchmarks named, or all; `--list` prints their names. An unknown name ends it with status 2."""
    known = benchmarks()
    if arguments == ["--list"]:
        for name, module in known.items():
            print(f"{name:<20} {first_line(module)}")
        return
    names = list(takewhile(lambda word: not word.startswith("--"), arguments))
    words = arguments[len(names) :]
    options = {option.removeprefix("--"): value for option, value in zip(words[::2], words[1::2], strict=True)}
    for name in names:
        if name not in known:
            print(f"No benchmark {name!r}: `python -m bench --list` prints all.", file=sys.stderr)
            sys.exit(2)
    for name in names or known:
        print(f"\n== {name}", flush=True)
        known[name].run(**options)


if __name__ == "__main__":
    main(sys.argv[1:])
