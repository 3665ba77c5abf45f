"""Waiting for a descriptor, also where a process has more of them open than `select` can name."""

from __future__ import annotations

import os

import pytest

from ibidem.execution.descriptors import is_readable

resource = pytest.importorskip("resource")
FAR = 1500


def test_a_descriptor_beyond_a_thousand_can_be_waited_for() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= FAR:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FAR + 1), hard))
    reader, writer = os.pipe()
    try:
        os.dup2(reader, FAR)
        assert not is_readable(FAR, 0.01)
        os.write(writer, b"a")
        assert is_readable(FAR, None)
        os.read(FAR, 1)
        os.close(writer)
        assert is_readable(FAR, None)
        assert os.read(FAR, 1) == b""
    finally:
        os.close(reader)
        os.close(FAR)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
