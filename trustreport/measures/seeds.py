"""Random numbers that depend on the study's seed and on what they are for, never on the order of the work."""

from zlib import crc32

import numpy as np

DEFAULT = 1


def generator(seed: int | None, *what: str) -> np.random.Generator:
    """A generator of its own for each purpose, named by `what`, from the seed that the manifest declares.

    >>> bool(generator(7, "bootstrap", "auc").random() == generator(7, "bootstrap", "auc").random())
    True
    >>> bool(generator(7, "bootstrap", "auc").random() == generator(7, "bootstrap", "brier").random())
    False
    """
    entropy = [DEFAULT if seed is None else seed, *(crc32(word.encode()) for word in what)]
    return np.random.default_rng(np.random.SeedSequence(entropy))
