"""What `benchmarks/peers.py` compares: the same made data, our call and the peer's.

`inputs` makes the data, `ours` and `theirs` (and `theirs.R`) prepare a call of them, `listed` says which
belong together, `worker` times calls in a process of its own.
"""
