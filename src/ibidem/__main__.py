"""`python -m ibidem`."""

from ibidem.cli.main import main

main()
