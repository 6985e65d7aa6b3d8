"""`python -m dragoman` is the `dragoman` command."""

from dragoman.cli import main

main()
