"""Ctrl-C and SIGTERM: the run is unwound, so that nothing incomplete is left behind; if that takes long, a message says so.

While libraries load there is nothing to unwind, and a signal ends the process at once. This module is loaded before all others
and must stay small.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from ibidem.execution.descriptors import is_readable

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE_SECONDS = 1.0
_LOOK_SECONDS = 0.02  # between checks whether code is still loading
_IMPORTING = "<frozen importlib._bootstrap>"
_NUMBA = f"{os.sep}numba{os.sep}"
_INTERRUPTED = "ibidem: interrupted\n"
_WAITING = "ibidem: interrupted; waiting for the current step (press Ctrl-C again to quit at once)\n"
_received: list[int] = []
_postponed: list[int] = []  # signals whose KeyboardInterrupt is still to be raised
_left_alone = threading.Event()
_loading: list[None] = []  # one entry for each `loading` block that is open


def exit_code() -> int:
    """Return the exit code of an interrupted run, as shells give it: 128 and the number of the signal."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def note(number: int) -> None:
    """Note that a signal ends the run."""
    _received.append(number)


def leave_alone() -> None:
    """Let a verb that ends by signals, such as a server, handle them: no waiting, and a second signal does not end it."""
    _left_alone.set()


@contextmanager
def loading() -> Iterator[None]:
    """Load libraries in a block where nothing has to be undone: a signal ends the process at once, whatever they do.

    Libraries take seconds to load on a busy machine, and some catch or garble what a signal raises meanwhile.
    """
    _loading.append(None)
    try:
        yield
    finally:
        _loading.pop()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first SIGINT, SIGTERM or SIGHUP raise KeyboardInterrupt in the main thread; a second one ends the process.

    Imports, and the loading of kernels, are not interrupted, outside of `loading` either: KeyboardInterrupt is raised when
    they have ended. Nor is a kernel that runs: where the run has not ended after PATIENCE_SECONDS, a line on standard error
    says that it waits. Off the main thread signals are left as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        note(number)
        if _loading:
            if os.name == "posix":  # the thread that watches is about to end the process
                threading.Event().wait(PATIENCE_SECONDS)
            _leave(number)
        if _is_loading_code(frame):
            _postponed.append(number)
        else:
            raise KeyboardInterrupt

    _postponed.clear()
    previous_hook = sys.unraisablehook
    stop_watching = _watch_signals()
    previous = {number: signal.signal(number, interrupt) for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN}
    sys.unraisablehook = _raising_again(previous_hook)
    try:
        yield
    finally:
        stop_watching()
        sys.unraisablehook = previous_hook
        for number, handler in previous.items():
            # Only the end is left: another Ctrl-C ends the process silently.
            signal.signal(number, signal.SIG_DFL if _received else handler)


def _is_loading_code(frame: FrameType | None) -> bool:
    """Return whether modules or kernels are being loaded or compiled: numba would turn an exception into another error."""
    while frame is not None and frame.f_code.co_filename != _IMPORTING and _NUMBA not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None


def _raising_again(previous: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a hook for what Python has to drop: raised in a callback or a finalizer, KeyboardInterrupt would be lost."""

    def hook(dropped: Any) -> None:
        if _received and issubclass(dropped.exc_type, KeyboardInterrupt):
            _postponed.append(_received[-1])
        else:
            previous(dropped)

    return hook


def _leave(number: int) -> NoReturn:
    """End the process at once."""
    with suppress(OSError):
        os.write(2, _INTERRUPTED.encode())
    os._exit(128 + number)


def _watch_signals() -> Callable[[], None]:
    """Watch signals from a thread of its own, for Python's handlers wait while the main thread is in a kernel."""
    if os.name != "posix":
        return lambda: None
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    previous = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    done = threading.Event()
    main_thread = threading.get_ident()

    def watch() -> None:
        n_received = n_raised_here = 0
        while True:
            if not is_readable(reader, _LOOK_SECONDS if n_received else None):
                frame = sys._current_frames().get(main_thread)
                if _postponed and not done.is_set() and not _is_loading_code(frame):
                    n_raised_here += 1
                    _thread.interrupt_main(signal.Signals(_postponed.pop()))
                del frame
                continue
            number = os.read(reader, 1)
            if not number:
                break
            if _left_alone.is_set() or number[0] not in SIGNALS:
                continue
            if n_raised_here:  # it is written here, too
                n_raised_here -= 1
                continue
            if _loading and not n_received:
                _leave(number[0])
            n_received += 1
            if n_received > 1:
                os._exit(128 + number[0])
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
