"""`import ibidem`: small, sorted, documented, and quick."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys

import pytest

import ibidem


def test_the_names_are_sorted_and_all_there_are() -> None:
    assert list(ibidem.__all__) == sorted(ibidem.__all__)
    assert len(set(ibidem.__all__)) == len(ibidem.__all__)
    assert dir(ibidem) == list(ibidem.__all__)
    assert set(ibidem.__all__) == {
        "Arrival", "CleaningResult", "ClusterResult", "Comparison", "Config", "ContaminationResult", "Difference", "Document",
        "Hit", "IbidemError",
        "Index", "IndexStoreError", "InputError", "Passage", "QueryResult", "ResourceError", "Result", "SamplingPlan",
        "Similarity", "Skipped", "Span",
        "SparkEngine",
        "Tuning", "UsageError", "Verdict", "VerdictTuning", "VerifiedQuotation",
        "WordTable", "__version__", "cluster", "collapse", "compare", "compare_pairs",
        "decontaminate", "dedup", "find", "read", "similarity", "split_sentences", "tune",
        "tune_from_verdicts", "words",
    }  # fmt: skip


@pytest.mark.parametrize("name", ibidem.__all__)
def test_a_name_can_be_imported_and_is_documented(name: str) -> None:
    thing = getattr(ibidem, name)
    if name == "__version__":
        assert isinstance(thing, str)
        return
    assert thing.__name__ == name
    text = inspect.getdoc(thing)
    assert text
    assert not text.startswith(f"{name}("), "the docstring that dataclasses make says nothing"
    for member_name, member in inspect.getmembers(thing, inspect.isfunction):
        if not member_name.startswith("_") and inspect.isclass(thing):
            assert inspect.getdoc(member), f"{name}.{member_name}"


def test_old_names_of_results_on_spark_are_those_of_all_results() -> None:
    assert ibidem.SparkResult is ibidem.Result
    assert ibidem.SparkClusterResult is ibidem.ClusterResult
    assert ibidem.SparkCleaningResult is ibidem.CleaningResult


@pytest.mark.parametrize(
    "name", ["find", "cluster", "dedup", "decontaminate", "compare_pairs", "tune", "tune_from_verdicts", "words"]
)
def test_signatures_of_the_verbs_are_typed(name: str) -> None:
    tree = ast.parse(inspect.getsource(sys.modules[getattr(ibidem, name).__module__]))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    assert found
    for node in found:
        assert node.returns is not None
        written = f"{ast.unparse(node.args)} -> {ast.unparse(node.returns)}"
        # What a call returns whose engine is not known has `Any`.
        assert "Any" not in re.sub(r"(Cleaned|Decontaminated)\[Any\]", "", written)
        assert "**settings: Setting" not in written


def test_a_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from ibidem import *", names)
    assert set(ibidem.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'finde'"):
        _ = ibidem.finde  # type: ignore[attr-defined]


def test_importing_loads_neither_numba_nor_pyarrow() -> None:
    loaded = "sorted({'numba', 'numpy', 'pyarrow', 'rich'} & set(sys.modules))"
    code = f"import sys, ibidem; ibidem.Config; ibidem.InputError; print({loaded})"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_the_errors_are_one_tree_with_exit_codes() -> None:
    assert issubclass(ibidem.InputError, ibidem.IbidemError)
    assert [e.exit_code for e in (ibidem.IbidemError, ibidem.UsageError, ibidem.InputError, ibidem.ResourceError)] == [
        1,
        2,
        3,
        5,
    ]
    error = ibidem.InputError("no file", "Look again.")
    assert (error.message, error.next_step, str(error)) == ("no file", "Look again.", "no file\nLook again.")
