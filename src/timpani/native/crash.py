"""Native programs that run a user's algorithm: how they ended."""

import signal

_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGXCPU}
"""Signals that a program gets for what it does. Others come from outside, as when memory runs out."""


def crash(status: int) -> str | None:
    """The name of the signal by which a program with the exit `status` ended for its own fault; None for others."""
    return signal.strsignal(-status) if -status in _FAULTS else None
