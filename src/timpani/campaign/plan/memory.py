"""Whether this computer has memory for all ranks' buffers at once, where all of them run on it."""

import os

from timpani.study.operations import OPERATIONS

_SHARE = 0.5
"""Of this computer's memory, for the buffers of all launches that run at a time. Libraries allocate as much again."""


def too_large(collective: str, ranks: int, message_bytes: int, in_place: bool, launches: int) -> str:
    """Why the buffers of all ranks don't fit here, in words; nothing where they do.

    launches  how many run at a time
    """
    wanted = launches * buffer_bytes(collective, ranks, message_bytes, in_place)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if wanted <= _SHARE * memory:
        return ""
    concurrent = f" of {launches} concurrent launches" if launches > 1 else ""
    return (
        f"the buffers{concurrent} take {wanted / 1e9:.1f} GB, more than {_SHARE:.0%} of the {memory / 1e9:.1f} GB of "
        "memory here"
    )


def buffer_bytes(collective: str, ranks: int, message_bytes: int, in_place: bool = False) -> int:
    """Bytes of the send and receive buffers of all ranks together."""
    operation = OPERATIONS[collective]
    movement = operation.movement
    if movement is None:
        return 2 * ranks * message_bytes
    both = movement.send, movement.receive
    if not (in_place and operation.takes["in_place"]):
        return sum(each.bytes_in_all(message_bytes, ranks) for each in both)
    sent, received = (each.bytes_in_one(message_bytes, ranks) for each in both)
    if movement.rooted:  # the root has one buffer
        return sum(each.bytes_in_all(message_bytes, ranks) for each in both) - min(sent, received)
    return ranks * max(sent, received)
