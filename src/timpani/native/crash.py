"""Native programs that run a user's algorithm: which limits they have, and how they ended."""

import resource
import signal
from dataclasses import dataclass

_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGXCPU}
"""Signals that a program gets for what it does. Others come from outside, as when memory runs out."""


@dataclass(frozen=True)
class ResourceLimits:
    """What a program may use; when called in a child before its program, the kernel enforces it."""

    processor_seconds: int
    memory_bytes: int

    def __call__(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (self.processor_seconds, self.processor_seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (self.memory_bytes, self.memory_bytes))


def crash(status: int) -> str | None:
    """The name of the signal by which a program with the exit `status` ended for its own fault; None for others."""
    return signal.strsignal(-status) if -status in _FAULTS else None
