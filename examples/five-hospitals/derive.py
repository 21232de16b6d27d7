"""Makes the tables of five hospitals, and what each hands over, signed with a new key.

    python examples/five-hospitals/derive.py

The patients are those of two published studies (SOURCES.md of examples/breast-recurrence), shared out to five
hospitals at random. Private keys are thrown away: only the hospitals would have them.
"""

import csv
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "breast-recurrence"
HOSPITALS = ("North", "East", "South", "West", "Coast")
FEWEST = {"West": 20}  # the rule of one hospital is stricter than the customary 5
COLUMNS = ("patient", "recurrence", "score", "age", "menopause")


def trustreport(*words: object) -> None:
    """Run a command as a hospital does."""
    subprocess.run([sys.executable, "-m", "trustreport", *map(str, words)], check=True, capture_output=True)


def tables() -> None:
    """The table of each hospital."""
    rows = []
    for name in ("rotterdam_1990_1993.csv", "german_trial.csv"):
        with (SOURCE / name).open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    draw = random.Random(20261128)
    shares: dict[str, list[dict[str, str]]] = {name: [] for name in HOSPITALS}
    for row in rows:
        shares[draw.choice(HOSPITALS)].append(row)
    for name, own in shares.items():
        with (HERE / "hospitals" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for i, row in enumerate(own, 1):
                writer.writerow(
                    [f"{name[0]}{i:03d}", *(row[c] for c in ("truth", "score", "age", "menopause"))]
                )


def site_files() -> None:
    """What each hospital hands over under the lock, and the public keys."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    coordinator = HERE / "coordinator"
    (coordinator / "criteria.lock.json").unlink(missing_ok=True)
    trustreport("lock", coordinator)
    signers = []
    with tempfile.TemporaryDirectory() as place:
        for name in HOSPITALS:
            home = Path(place) / name
            home.mkdir()
            for file in ("study.yaml", "criteria.lock.json"):
                shutil.copy(coordinator / file, home)
            shutil.copy(HERE / "hospitals" / f"{name}.csv", home / "patients.csv")
            key = Ed25519PrivateKey.generate()
            private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
            (home / "key.pem").write_bytes(private)
            public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
            signers.append(f"{name} hospital\n{public.decode()}")
            out = HERE / f"{name}.site.json"
            rules = ("--fewest", FEWEST.get(name, 5))
            trustreport("site", home, "--site", name, "-o", out, "--key", home / "key.pem", *rules)
    (HERE / "signers.pem").write_text("".join(signers), encoding="utf-8")


if __name__ == "__main__":
    tables()
    site_files()
