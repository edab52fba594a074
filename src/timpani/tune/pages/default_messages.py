"""The messages of a library's default, from a campaign that counted them."""

from collections.abc import Mapping

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.errors import UserError
from timpani.report.words.proofs import named_proofs
from timpani.schedules.fingerprint import Fingerprints
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import cell_of
from timpani.study.words import counted


def default_messages(
    campaign: Campaign, ranks: int, nodes: int, fingerprints: Fingerprints
) -> Mapping[str, Mapping[int, str]]:
    """By collective and size, in words: Timpani's schedules that send the same messages as the default.

    UserError if `campaign` counted no messages of the default on `ranks` and `nodes`.
    """
    layouts = rank_layouts(campaign)
    proofs: dict[tuple[int, int], list[dict[str, object]]] = {}
    for proof in campaign.proofs:
        cell = cell_of(proof)
        layout = layouts.get((cell.ranks, cell.placement))
        if layout and cell.algorithm.is_default and cell.collective in COLLECTIVES:
            proofs.setdefault((cell.ranks, layout.nodes), []).append(proof)
    if (ranks, nodes) not in proofs:
        there = "; ".join(f"--ranks {count} --nodes {on}" for count, on in sorted(proofs))
        raise UserError(
            f"{campaign.folder} counted no message of the default on {counted(ranks, 'rank')} and "
            f"{counted(nodes, 'node')}",
            f"it did for {there}" if there else "count them: `timpani run … --prove`",
        )
    found: dict[str, dict[int, list[str]]] = {}
    for named in named_proofs(proofs[ranks, nodes], fingerprints, campaign.header.study.element_bytes_of):
        words = found.setdefault(named.cell.collective, {}).setdefault(named.cell.message_bytes, [])
        words += [named.name.description] if named.name.description not in words else []
    return {
        collective: {size: ", in another placement ".join(words) for size, words in sizes.items()}
        for collective, sizes in found.items()
    }
