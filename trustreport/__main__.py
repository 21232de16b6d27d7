"""`python -m trustreport` is the command line."""

from trustreport.cli import main

main()
