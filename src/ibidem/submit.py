"""What `spark-submit` runs: the command line of ibidem on the session that it has made.

spark-submit --master yarn "$(python -m ibidem.submit --path)" find hdfs:///crawl -o hdfs:///found --tmp-dir hdfs:///tmp
"""

from __future__ import annotations

import sys

from ibidem.cli.main import main as run


def main() -> None:
    """Run a verb on Spark; `--path` says where this file is."""
    if sys.argv[1:] == ["--path"]:
        print(__file__)
        return
    if len(sys.argv) > 1 and sys.argv[1] in ("find", "cluster", "dedup", "decontaminate") and "--engine" not in sys.argv:
        sys.argv[2:2] = ["--engine", "spark"]
    run()


if __name__ == "__main__":
    main()
