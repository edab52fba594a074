"""A program that ends when the one that started it is killed."""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1  # prctl(2)


def die_with_parent() -> None:
    """Run in a child before its program: the kernel sends it SIGTERM when its parent dies, however that does."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
