"""Many studies assessed and reported, with an overview of all: `run.build_fleet` does it.

What a worker imports (`build_process`) is light; what builds reports is imported by its child process alone.
"""
