"""`timpani new`: a file to begin from."""

from typing import Annotated

import typer

from timpani.errors import UserError

app = typer.Typer(no_args_is_help=True)


@app.callback()
def new() -> None:
    """Write a first version of a new algorithm."""


@app.command()
def algorithm(
    name: Annotated[str, typer.Argument(metavar="COLLECTIVE/NAME", help="The new algorithm: bcast/two_chains.")],
) -> None:
    """Write a new, correct algorithm into native/algorithms of a checkout, or the folder TIMPANI_ALGORITHMS."""
    from timpani.native.sources import ALGORITHMS, checkout_algorithms, further_algorithms, sources
    from timpani.providers.algorithm_skeleton import skeleton
    from timpani.report.words.output_files import write_file

    file, text = skeleton(name)
    folder = further_algorithms() or checkout_algorithms()
    if folder is None:
        raise UserError(
            "no folder for new algorithms is named",
            f'make one and name it: mkdir algorithms; export {ALGORITHMS}="$PWD/algorithms"',
        )
    if (folder / file).exists() or (sources() / "algorithms" / file).exists():
        raise UserError(f"there is an algorithm {name} already", "choose another name")
    write_file(folder / file, text.encode())
    typer.echo(f"{folder / file}: verify it with `timpani verify {name}`")
