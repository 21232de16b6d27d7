"""`python -m trustreport` is the command line."""

if __name__ == "__main__":  # a worker process imports this module again, and has no use for the commands
    from trustreport.commands.cli import main

    main()
