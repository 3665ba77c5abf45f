"""Ctrl-C and SIGTERM: the run is unwound, so that nothing half done is left behind; what takes longer says that it waits."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE_SECONDS = 1.0
_WAITING = "ibidem: interrupted; waiting for the work at hand (once more: end at once)\n"
_received: list[int] = []
_left_alone = threading.Event()


def exit_code() -> int:
    """Return the exit code of an interrupted run, as shells give it: 128 and the number of the signal."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def note(number: int) -> None:
    """Note that a signal ends the run."""
    _received.append(number)


def leave_alone() -> None:
    """Let a verb that ends by signals, as a server does, see to them by itself: nobody waits, and no second one ends it."""
    _left_alone.set()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first SIGINT, SIGTERM or SIGHUP raise KeyboardInterrupt in the main thread; a second one ends the process.

    A kernel is not interrupted: where the run has not ended after PATIENCE_SECONDS, standard error is told that it waits. Off
    the main thread signals are left as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        note(number)
        raise KeyboardInterrupt

    stop_telling = _tell_of_waiting()
    previous = {number: signal.signal(number, interrupt) for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN}
    try:
        yield
    finally:
        stop_telling()
        for number, handler in previous.items():
            # What is left is to end: another Ctrl-C does it without a word.
            signal.signal(number, signal.SIG_DFL if _received else handler)


def _tell_of_waiting() -> Callable[[], None]:
    """Watch signals from a thread of its own, for Python's handlers wait while the main thread is in a kernel."""
    if os.name != "posix":
        return lambda: None
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    done = threading.Event()

    def watch() -> None:
        n_received = 0
        while number := os.read(reader, 1):
            if _left_alone.is_set():
                continue
            n_received += number[0] in SIGNALS
            if n_received > 1:
                os._exit(128 + number[0])
            if n_received == 1 and number[0] in SIGNALS:
                timer = threading.Timer(PATIENCE_SECONDS, tell)
                timer.daemon = True
                timer.start()
        os.close(reader)

    def tell() -> None:
        if not done.is_set():
            with suppress(OSError):
                os.write(2, _WAITING.encode())

    def stop() -> None:
        done.set()
        signal.set_wakeup_fd(previous)
        os.close(writer)

    threading.Thread(target=watch, name="signals", daemon=True).start()
    return stop
