"""Help that helps: short and grouped, complete on request, with examples that run; and answers to what is misspelt."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from itertools import islice
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from ibidem.cli import rehearsals
from ibidem.cli.commands import Argument, Option, Verb
from ibidem.cli.completion import SHELLS, VARIABLE
from ibidem.cli.suggestions import verbs_of
from ibidem.cli.topics import TOPICS
from ibidem.cli.verb_group import VerbGroup
from ibidem.cli.verbs import VERBS, ibidem
from ibidem.config import SIGNATURES, setting_fields
from ibidem.config.settings import HELP_GROUPS
from ibidem.errors import IbidemError
from ibidem.formats.registry import FORMATS
from tests.cli.test_find import COMMAND, Run
from tests.waiting import LIMIT_SECONDS

ROOT = Path(__file__).parents[2]
NEWSROOM = ROOT / "examples" / "newsroom"
PROGRAM = click.Context(ibidem, info_name="ibidem")
COMMANDS: dict[str, Verb | VerbGroup] = dict(verbs_of(PROGRAM))  # type: ignore[arg-type]
PAGES: dict[str, Verb | VerbGroup] = {"": ibidem, "index": ibidem.get_command(PROGRAM, "index"), **COMMANDS}  # type: ignore[dict-item]


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


# What help shows.


@pytest.mark.parametrize("name", PAGES)
def test_help_fits_on_a_screen_and_ends_with_two_examples(run: Run, name: str) -> None:
    answer = run(*name.split(), "--help")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    assert lines[0].startswith(f"Usage: ibidem {name}".rstrip())
    assert lines[-3] == "Examples:"
    assert all(line.startswith(f"  ibidem {name}".rstrip()) for line in lines[-2:])
    assert lines[-2:] == [f"  {example}" for example in PAGES[name].examples]


@pytest.mark.parametrize("name", COMMANDS)
def test_all_help_lists_every_option_in_its_group(run: Run, name: str) -> None:
    answer = run(*name.split(), "--help-all")
    assert (answer.code, answer.err) == (0, "")
    assert max(map(len, answer.out.splitlines())) <= 80
    headings = [line.rstrip(":") for line in answer.out.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [*(group for group in HELP_GROUPS if group in headings), "Examples"]
    for parameter in COMMANDS[name].params:
        assert isinstance(parameter, (Option, Argument)), parameter.name
        if getattr(parameter, "hidden", False):
            assert parameter.opts[0] not in answer.out, parameter.name
        elif parameter.opts != ["--help-all"]:
            group = answer.out.split(f"{parameter.group}:\n")[1].split("\n\n")[0]
            assert f"  {parameter.names()}" in group, parameter.name
            assert parameter.text(complete=True), parameter.name
    assert run("help", *name.split()) == answer


def test_plain_help_lists_common_options_only(run: Run) -> None:
    about = {setting.name: setting.metadata for _, setting in setting_fields()}
    out = run("find", "--help").out
    for parameter in COMMANDS["find"].params:
        if parameter.name in about:
            assert (f"--{parameter.name.replace('_', '-')} " in out) == about[parameter.name]["is_common"], parameter.name
    assert out.index("Input:") < out.index("What counts:") < out.index("Output:") < out.index("Running:")


def test_the_program_lists_its_verbs_by_job(run: Run) -> None:
    out = run("--help").out
    listed = [line.split()[0] for line in out.split("Find shared text:")[1].splitlines() if re.match(r"  [a-z]", line)]
    assert listed[: len(VERBS)] == list(VERBS)
    assert run("help").out == out


def test_a_switch_that_is_on_shows_how_to_turn_it_off(run: Run) -> None:
    assert "--verify / --no-verify" in run("cluster", "--help-all").out
    assert "--align / --no-align" in run("find", "--help").out
    assert "--no-align" not in run("dedup", "--help-all").out


# Misspelt.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("fnd a.jsonl", "there is no command `fnd`. Did you mean `find`?"),
        ("query news.idx a.txt", "there is no command `query`. Did you mean `ibidem index query`?"),
        ("index ad news.idx", "there is no command `ad`. Did you mean `add`?"),
        ("frobnicate", "there is no command `frobnicate`. The commands are find, compare, "),
        ("find a.jsonl -o out --level passage", "`--level` belongs to `ibidem dedup` and `ibidem decontaminate`."),
        ("--level passage dedup", "`--level` belongs to `ibidem dedup` and `ibidem decontaminate`."),
        ("find a.jsonl -o out --plan x", "`--plan` belongs to `ibidem cluster` and `ibidem dedup`."),
        ("cluster a.jsonl --min-sentences 3", "`--min-sentences` belongs to `ibidem find`, `ibidem dedup` and others."),
        ("report out --no-verify", "`--no-verify` belongs to `ibidem cluster` and `ibidem dedup`."),
        ("find a.jsonl --min-similarty 1", "there is no option `--min-similarty`. Did you mean `--min-similarity`?"),
        ("report out --leve passage", "there is no option `--leve`. Did you mean `--level` of `ibidem dedup`?"),
        ("find a.jsonl --group outlet", "there is no option `--group`. Did you mean `--group-field`?"),
        ("find a.jsonl --time date", "there is no option `--time`. Did you mean `--time-field`?"),
        ("find a.jsonl --text body", "there is no option `--text`. Did you mean `--text-field`?"),
        ("find a.jsonl --threshold 0.8", "there is no option `--threshold`. Did you mean `--min-similarity`?"),
        ("find a.jsonl --frobnicate", "there is no option `--frobnicate`."),
        ("find a.jsonl -o out --format jsonlines", "must be one of parquet, jsonl, csv, not 'jsonlines' (did you mean jsonl?)"),
        ("help formts", "there is no page on `formts`. Did you mean `ibidem help formats`?"),
        ("help index ad", "there is no page on `index ad`. Did you mean `ibidem help index add`?"),
        ("help quux", "there is no page on `quux`. The topics are formats, "),
    ],
)  # fmt: skip
def test_what_is_misspelt_is_answered_with_the_right_word(run: Run, arguments: str, said: str) -> None:
    answer = run(*arguments.split())
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


# Examples.


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples name."""
    folder = tmp_path_factory.mktemp("examples")
    lines = (NEWSROOM / "documents.jsonl").read_text("utf-8").splitlines(keepends=True)
    for name in ("articles", "crawl"):
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    half = len(lines) // 2
    for names, part in (("archive train", lines[:half]), ("today test", lines[half:])):
        for name in names.split():
            (folder / f"{name}.jsonl").write_text("".join(part), "utf-8")
    records = [json.loads(line) for line in lines]
    for name, record in zip(("draft", "published"), records, strict=False):
        (folder / f"{name}.txt").write_text(record["text"], "utf-8")
    (folder / "pairs.csv").write_text(f"a_id,b_id\n{records[0]['id']},{records[1]['id']}\n", "utf-8")
    (folder / "article.md").write_text("It is “the lowest level that has been measured”.\n", "utf-8")
    (folder / "withdrawn.txt").write_text(f"{records[0]['id']}\n", "utf-8")
    shutil.copy(NEWSROOM / "truth.jsonl", folder)
    shutil.copy(NEWSROOM.parent / "sites" / "results.jsonl", folder)
    article = json.dumps({"id": "article-17", "text": "An article that is withdrawn."})
    (folder / "archive.jsonl").write_text(f"{''.join(lines[:half])}{article}\n", "utf-8")
    for command in ("index add news.idx archive.jsonl", "find articles.jsonl -o found"):
        subprocess.run([*COMMAND, *command.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("name", [name for name in PAGES if name not in ("serve", "mcp")])
def test_examples_run(run: Run, name: str, example_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(PAGES[name].examples) == 2
    # All of what a warm-up runs is run by tests/test_kernel_cache.py; here the first of it for every verb.
    whole = rehearsals.rehearsals
    monkeypatch.setattr(rehearsals, "rehearsals", lambda verb, folder: islice(whole(verb, folder), 1))
    for number, example in enumerate(PAGES[name].examples):
        work = tmp_path / str(number)
        shutil.copytree(example_folder, work)
        if "out" in example.split() and "-o out" not in example:
            (work / "found").rename(work / "out")  # results that the example reads
        if "index add" in example and "--replace" not in example:
            shutil.rmtree(work / "news.idx")  # the example creates it
        monkeypatch.chdir(work)
        words, _, target = example.partition(" > ")
        words, _, source = words.partition(" < ")
        with open(source or os.devnull, encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            answer = run(*shlex.split(words)[1:])
        assert answer.code == (1 if "--exit-code" in words else 0), f"{example}\n{answer.err}"
        assert answer.out or not target


@pytest.mark.parametrize("example", COMMANDS["serve"].examples)
def test_examples_of_serve_run(example: str, example_folder: Path) -> None:
    pytest.importorskip("uvicorn")
    words = [{"out": "found"}.get(word, word) for word in re.sub(r" --port \d+", "", example).split()[1:]]
    with subprocess.Popen(
        [*COMMAND, *words, "--port", "0"], cwd=example_folder, stderr=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        assert process.stderr is not None
        said = next((line for line in process.stderr if "serving" in line), "")
        (address,) = re.findall(r"http://\S+", said)
        with urllib.request.urlopen(address, timeout=60) as page:  # from then on signals are the server's own
            assert b"ibidem" in page.read()
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait(LIMIT_SECONDS) == 0


# Topics.


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_has_a_page(run: Run, topic: str) -> None:
    answer = run("help", topic)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"{TOPICS[topic].title}:\n")
    assert max(map(len, answer.out.splitlines())) <= 80


def test_topics_name_all_there_is() -> None:
    extensions = {extension for kind in FORMATS.values() for extension in kind.extensions}
    assert set(re.findall(r"(?<= )\.[a-z]+|^\.[a-z]+", TOPICS["formats"].text, re.MULTILINE)) - {".gz", ".zst"} == extensions
    assert set(re.findall(r"^([a-z]+)  +", TOPICS["signatures"].text, re.MULTILINE)) == set(SIGNATURES)
    codes = {int(code) for code in re.findall(r"^(\d+) ", TOPICS["exit-codes"].text, re.MULTILINE)}
    assert codes == {0, 130, *exit_codes(IbidemError)}
    flags = {
        name for command in COMMANDS.values() for option in command.params for name in (*option.opts, *option.secondary_opts)
    }
    named = {flag for topic in TOPICS.values() for flag in re.findall(r"--[a-z][a-z-]+", topic.text)}
    assert named <= flags


def exit_codes(error: type[IbidemError]) -> set[int]:
    return {error.exit_code}.union(*(exit_codes(each) for each in error.__subclasses__()))


# Completion and the manual page.


def complete(*words: str) -> list[CompletionItem]:
    *before, last = words
    found = ShellComplete(ibidem, {}, "ibidem", VARIABLE).get_completions(list(before), last)
    assert found
    return found


def completions(*words: str) -> set[str]:
    return {item.value for item in complete(*words)}


def test_shells_complete_verbs_options_choices_and_topics() -> None:
    assert completions("") >= set(VERBS)
    assert completions("f") == {"find"}
    assert completions("index", "c") == {"check", "compact"}
    assert completions("find", "--min-s") == {"--min-sentences", "--min-similarity"}
    assert completions("dedup", "--level", "") == {"document", "passage", "sentence", "run"}
    assert completions("completion", "") == set(SHELLS)
    assert completions("help", "f") == {"find", "formats"}
    for words in (["find"], ["find", "--against"], ["index", "add"], ["report"]):
        assert {item.type for item in complete(*words, "")} <= {"file", "dir"}, words


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_every_shell(run: Run, shell: str) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("no bash here: click asks it for its version")
    answer = run("completion", shell)
    assert answer.code == 0
    assert f"{VARIABLE}={shell}_complete" in answer.out
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=answer.out, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_the_program_answers_the_script(tmp_path: Path) -> None:
    environment = {**os.environ, VARIABLE: "bash_complete", "COMP_WORDS": "ibidem fin", "COMP_CWORD": "1"}
    done = subprocess.run([*COMMAND], env=environment, capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS)
    assert done.stdout == "plain,find\n"


def test_the_manual_page_names_every_verb_and_option(run: Run) -> None:
    page = run("help", "--man").out
    plain = page.replace("\\-", "-")
    for name, command in COMMANDS.items():
        section = plain.split(f".SS ibidem {name}\n")[1].split("\n.S")[0]
        for parameter in command.params:
            is_named = not isinstance(parameter, Argument) and not parameter.hidden and parameter.opts != ["--help-all"]
            assert parameter.opts[0] in section or not is_named
    assert "\b" not in page
    assert "\f" not in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_the_manual_page_is_valid(run: Run) -> None:
    page = run("help", "--man").out
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-K", "utf8"], input=page, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "ibidem find" in done.stdout.replace("\x1b[1m", "")


def test_misspelt_words_load_no_kernels() -> None:
    code = (
        "import sys\nfrom ibidem.cli.main import main\n"
        "for words in ['find --level x', 'help formats', 'help --man', 'fnd']:\n"
        "    sys.argv = ['ibidem', *words.split()]\n    try:\n        main()\n    except SystemExit:\n        pass\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'rich'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "[]"
