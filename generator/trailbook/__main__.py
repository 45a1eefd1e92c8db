"""`python -m trailbook`."""

from trailbook.cli import main

main()
