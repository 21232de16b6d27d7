"""`python -m trustreport` is the command line."""

from trustreport.cli import main

if __name__ == "__main__":  # a worker process imports this module again
    main()
