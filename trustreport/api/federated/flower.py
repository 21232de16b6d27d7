"""Site files over Flower: a node answers one query with its file, the server writes the files of all.

The app of `examples/carriers/flower` takes `client` and `server` from here. What a node reads is in its own
`--node-config` (study, site, key, fewest); nothing of it comes from the server.
"""

import logging
import time
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from trustreport.api.federated.node import NodeSettings, NoSiteFileError, node_file

client, server = ClientApp(), ServerApp()
log = logging.getLogger("flwr.trustreport")
Words = dict[str, bool | bytes | float | int | str]


@client.query()
def answer_query(message: Message, context: Context) -> Message:
    """The signed bytes of this node's file, or that there is none."""
    try:
        words: Words = {"file": node_file(NodeSettings.from_words(context.node_config))}
    except NoSiteFileError as error:
        words = {"refused": str(error)}
    return Message(RecordDict({"site": ConfigRecord(words)}), reply_to=message)


@server.main()
def collect(grid: Grid, context: Context) -> None:
    """Ask every node once; `sites`, `out` and `timeout` (seconds) are in the configuration of the run.

    A file is named by the number of its node: what is in it is not believed before a signature is verified.

    Raises
    ------
    RuntimeError : fewer files came than `sites`; those that came are written
    """
    wanted, until = int(context.run_config["sites"]), time.monotonic() + float(context.run_config["timeout"])
    while len(nodes := list(grid.get_node_ids())) < wanted and time.monotonic() < until:
        time.sleep(1)
    out = Path(str(context.run_config["out"]))
    out.mkdir(parents=True, exist_ok=True)
    asked = [Message(RecordDict(), dst_node_id=node, message_type=MessageType.QUERY) for node in nodes]
    n = 0
    for reply in grid.send_and_receive(asked, timeout=max(until - time.monotonic(), 1)):
        node = reply.metadata.src_node_id
        said = {} if reply.has_error() else reply.content.config_records.get("site", {})
        if isinstance(data := said.get("file"), bytes):
            (out / f"{node}.site.json").write_bytes(data)
            n += 1
        else:
            log.warning("Node %s sent no file. %s", node, said.get("refused", ""))
    log.info("%s of %s nodes sent a file: trustreport pool %s/*.site.json", n, len(nodes), out)
    if n < wanted:
        raise RuntimeError(f"{n} of {wanted} sites sent a file")
