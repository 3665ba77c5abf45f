"""`python -m fuzz`: run targets for some time, and tell what was found."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fuzz.running import has_atheris, is_guided, loop, run_for
from fuzz.targets import PLACES, load_target


def main() -> int:
    """Run what the command line asks for; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Fuzz what reads foreign data.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(PLACES)}; all if none is given")
    parser.add_argument("--minutes", type=float, default=30, help="for each target (30)")
    parser.add_argument("--seed", type=int, default=1, help="another number gives other cases (1)")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where findings go (build/fuzz)")
    parser.add_argument("--mutations", action="store_true", help="use the mutation loop even where atheris is installed")
    parser.add_argument("--again", type=Path, metavar="FILE", help="run one case in this process, e.g. under a debugger")
    parser.add_argument("--loop", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--guided", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.targets or list(PLACES)
    if unknown := set(names) - set(PLACES):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if options.again is not None:
        print(load_target(names[0]).check(options.again.read_bytes()))
        return 0
    if options.loop is not None:
        loop(names[0], options.loop, options.seed, options.folder, options.guided)
        return 0
    if not has_atheris():
        print("atheris is not installed (there are wheels for some systems only): the built-in mutation loop is used.")
    n_findings = 0
    for name in names:
        guided = is_guided(name) and not options.mutations
        print(f"{name}: {options.minutes:g} minutes, {'atheris' if guided else 'mutations'}", flush=True)
        told = run_for(name, options.minutes, options.folder / name, options.seed, guided)
        print(json.dumps(told), flush=True)
        n_findings += told["findings"]
    if n_findings:
        print(f"findings: {options.folder}/*/*.txt, and the case of each beside it", file=sys.stderr)
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
