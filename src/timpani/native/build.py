"""Build the native programs: once what uses no MPI, for all libraries, and the rest once for each library.

Nothing is built where this installation carries the programs (`carried.py`). Built ones lie in folders of the cache,
each named by a hash of all that they depend on. A folder is there when it is complete: a build that is interrupted
leaves none.
"""

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from timpani.errors import AlgorithmError, UserError
from timpani.native.announce import Units, announce, working
from timpani.native.cache import cache_folder, cached
from timpani.native.carried import NotCarriedError, carried, carried_without_mpi, has_target
from timpani.native.compiler import Compiler, compile_sources, compiler_without_mpi, library_compiler
from timpani.native.held_folder import held, remove_abandoned
from timpani.native.mpi import Mpi
from timpani.native_sources import ALGORITHMS, FURTHER_FILES, files_of, further_algorithms, sources

_FLAGS = ("CXXFLAGS", "LDFLAGS")  # the environment that CMake reads flags from
_UNFINISHED = "building-"
_ALGORITHMS = "no-mpi"
_LIBRARY_TIME, _TOOLS_TIME = 1.1, 1.3
"""How long the programs of a library, and the verifier and the simulator, compile, as multiples of the algorithms'
time. On two cores it was 86, 90 and 102 s at a load of 8, and 73, 61 and 70 s as the load fell to 9."""
_compiled_algorithms: list[float] = []
"""How many seconds this process took to compile them, each time."""
_WITHOUT_MPI = "TIMPANI_WITHOUT_MPI"
"""CMake's variable for the folders with archives of what uses no MPI, built before."""

PRELOADED = "timpani"
"""The target of the library that is preloaded, libtimpani.so."""
RULES_CHECK = "timpani-rules-check"
"""The program that checks rules as the preloaded library does."""
LIST = "timpani-list"
"""The program that lists algorithms."""
FIRST = (LIST, RULES_CHECK)
"""What is compiled with the algorithms, before anything else."""


def build(mpi: Mpi, source: Path | None = None, options: tuple[str, ...] = (), programs: tuple[str, ...] = ()) -> Path:
    """The folder with the programs of `source` (Timpani's by default) that use `mpi`: built, or found in the cache.

    They include the algorithms of `further_algorithms`. `options` are CMake's,
    such as `-DTIMPANI_SANITIZE=ON`. `programs` names the targets to build, where not all are wanted, or tests and
    benchmarks are; the folder of all programs is taken where it is there and has these.
    """
    try:
        return _carried(mpi, source, options, programs)
    except NotCarriedError as reason:
        return _compiled(lambda: _order(mpi, source, options, programs), str(reason))


def build_without_mpi(
    mpi: Mpi | None, source: Path | None = None, options: tuple[str, ...] = (), programs: tuple[str, ...] = ()
) -> Path:
    """The folder with the programs of `source` that use no MPI: the verifier, the simulator, the check of rules.

    `programs` are all, or those compiled `FIRST`: a campaign with a library needs no others.

    The compiler is the one that the wrapper of `mpi` calls, so that these are built together with what is linked with
    the programs of `mpi`; without a library it is any. They include the algorithms of `further_algorithms`.
    """
    try:
        return _carried(None, source, options, programs)
    except NotCarriedError as reason:
        return _compiled(lambda: _order_without_mpi(mpi, source, options, programs), str(reason))


def _compiled(order: Callable[[], "_Order"], reason: str) -> Path:
    """The folder of an order; `reason` is why it is compiled although others are carried."""
    try:
        ordered = order()
        ordered.folder(())  # asks the compilers
    except UserError as error:  # without a compiler
        because = f", and programs must be compiled: {reason}" if reason else ""
        raise UserError(f"{error.what}{because}", error.next_step) from None
    return _find_or_build(ordered, reason)


def is_built(mpi: Mpi, source: Path | None = None) -> bool:
    """Whether all that a campaign with `mpi` starts is in the cache, so that nothing is compiled."""
    try:
        return bool(_carried(mpi, source))
    except NotCarriedError:
        pass
    try:
        return bool(_find(_order(mpi, source)) and _find(_order_without_mpi(mpi, source, programs=FIRST)))
    except UserError:  # a compiler that can't run, and has built nothing here
        return False


def _carried(
    mpi: Mpi | None, source: Path | None, options: tuple[str, ...] = (), programs: tuple[str, ...] = ()
) -> Path:
    """The folder with carried `programs`, of those without MPI if no library is given; else NotCarriedError."""
    if source or options:
        raise NotCarriedError
    return carried(mpi, programs) if mpi else carried_without_mpi(programs)


@dataclass(frozen=True)
class _Order:
    """What is built into one folder of the cache.

    name       what the folder's name begins with
    what       the same for the user
    next_step  what the user can do if it does not build
    programs   the targets, where not all are wanted
    mpi        the library that the programs use
    further    the folder of a user's algorithms that are built into them
    base       what uses no MPI, built before and linked into this, with its own base; None for the first part
    """

    name: str
    what: str
    source: Path
    compiler: Compiler
    options: tuple[str, ...]
    next_step: str
    programs: tuple[str, ...] = ()
    mpi: Mpi | None = None
    further: Path | None = None
    base: "_Order | None" = None

    def folder(self, programs: tuple[str, ...]) -> str:
        """The name of the folder with `programs`: it has a hash of all that they depend on."""
        digest = self._hash.copy()
        digest.update(repr(programs).encode())
        return f"{self.name}-{digest.hexdigest()[:16]}"

    @property
    def bases(self) -> tuple["_Order", ...]:
        """All that is built before, in this order."""
        return (*self.base.bases, self.base) if self.base else ()

    @cached_property
    def _hash(self) -> "hashlib._Hash":
        flags = [os.environ.get(name, "") for name in _FLAGS]
        base = self.base and self.base.folder(())
        facts = (self.mpi, self.compiler.identity, flags, self.options, platform.machine(), base)
        digest = hashlib.sha256(repr(facts).encode())
        files = files_of(self.source, with_mpi=self.mpi is not None)  # the others are in the name of the base
        if self.further:
            files |= {str(path): path for path in self.further.glob(FURTHER_FILES)}
        for name, file in sorted(files.items()):
            content = file.read_bytes()
            digest.update(f"\0{name}\0{len(content)}\0".encode())
            digest.update(content)
        return digest


def _order(
    mpi: Mpi, source: Path | None = None, options: tuple[str, ...] = (), programs: tuple[str, ...] = ()
) -> _Order:
    compiler = library_compiler(mpi)
    base = _base(mpi, source, options)
    names = ", ".join("the library to preload" if name == PRELOADED else name for name in programs)
    return replace(
        base,
        name=f"{mpi.kind}-{mpi.version}",
        what=f"{names or 'the programs'} for {mpi.name} {mpi.version}",
        compiler=compiler,
        programs=programs,
        mpi=mpi,
        further=None if source else further_algorithms(),
        base=base,
    )


def _order_without_mpi(
    mpi: Mpi | None, source: Path | None = None, options: tuple[str, ...] = (), programs: tuple[str, ...] = ()
) -> _Order:
    base = _base(mpi, source, options)
    further = None if source else further_algorithms()
    if programs and not further:
        return base
    what = "the list of algorithms and the check of rules" if programs else "the verifier and the simulator"
    tools = replace(base, name="tools", what=f"{what}, once for all libraries", base=base)
    if not further:
        return tools
    what += f" with the algorithms in {further}"
    return replace(tools, what=what, programs=programs, further=further, base=base if programs else tools)


def _base(mpi: Mpi | None, source: Path | None, options: tuple[str, ...]) -> _Order:
    return _Order(
        name=_ALGORITHMS,
        what="the algorithms, once for all libraries",
        source=source or sources(),
        compiler=compiler_without_mpi(mpi),
        options=options,
        next_step="name another C++ compiler in the environment's CXX"
        if mpi is None
        else "choose another library with --mpi, or fix this one; `timpani doctor` checks it",
    )


def _find(order: _Order) -> Path | None:
    """The folder with the programs, from the cache: of all programs where these have been built."""
    whole = cached(order.folder(()))
    if whole and all(has_target(whole, name) for name in order.programs):
        return whole
    return cached(order.folder(order.programs))


def _find_or_build(order: _Order, reason: str = "") -> Path:
    """The folder with the programs; `reason` is why they are compiled although others are carried."""
    if found := _find(order):
        return found
    name = order.folder(order.programs)
    if reason:
        announce(f"{order.what} must be compiled: {reason}")
    bases = [_find_or_build(each) for each in order.bases]
    cache = cache_folder()
    unfinished = cache / f"{_UNFINISHED}{name}"
    done = cache / name
    with held(unfinished, lambda other: announce(f"waiting for process {other}, which compiles {order.what}")):
        if done.is_dir():  # another process built it while we waited
            return done
        order.compiler.check()
        remove_abandoned(cache.glob(f"{_UNFINISHED}*"))
        announce(f"compiling {order.what}; {_expected(order)}please wait")
        built = unfinished / "programs"
        units = Units()
        with working(f"compiling {order.what}", units.bar):
            _compile(order, bases, unfinished / "tree", built, units)
        order.compiler.remember()
        built.rename(done)
    if order.name == _ALGORITHMS:
        _compiled_algorithms.append(units.seconds)
    announce(f"compiled {order.what} in {units.seconds:.0f} s")
    return done


def _expected(order: _Order) -> str:
    """How long it takes, if this process compiled the algorithms before: an earlier process had another load."""
    if not _compiled_algorithms or order.programs or order.further or not order.base:
        return ""
    return f"about {_compiled_algorithms[-1] * (_LIBRARY_TIME if order.mpi else _TOOLS_TIME):.0f} s, "


def _compile(order: _Order, bases: Sequence[Path], tree: Path, built: Path, units: Units) -> None:
    options = [
        *order.options,
        f"-D{_WITHOUT_MPI}={';'.join(map(str, bases))}",
        # Only archives without MPI are linked into others.
        *(() if order.mpi else ("-DTIMPANI_MPI=OFF", f"-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY={built}")),
        *((f"-D{ALGORITHMS}={order.further}",) if order.further else ()),
    ]
    errors = compile_sources(order.source, order.compiler, tuple(options), order.programs, tree, built, units)
    if errors:
        what = f"the native programs don't build with {order.compiler}: {errors}"
        if order.further and str(order.further) in errors:
            raise AlgorithmError(what, f"fix the file, or unset {ALGORITHMS} to build without the folder")
        raise UserError(what, order.next_step)
