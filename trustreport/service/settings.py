"""What an operator decides, from the command line and from variables ``TRUSTREPORT_*``."""

import ipaddress
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from trustreport.service.engine import with_driver
from trustreport.service.languages import offered

MB = 1_000_000
LOOPBACK = ("127.0.0.1", "::1", "localhost")
FILES = re.compile(
    r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(/(?P<prefix>\w[\w.-]*(/\w[\w.-]*)*)?)?/?", re.ASCII
)
LARGEST_OBJECT = 5_000_000_000  # bytes that S3 takes in one request
SMTP_SECURITY = ("starttls", "tls", "none")
BACKENDS = ("dask",)


CONNECTION = re.compile(r"TRUSTREPORT_CONNECTION_([A-Z][A-Z0-9_]*?)(_FILE)?")
ORGANISATIONS = "_ORGANISATIONS"


class Unsuitable(ValueError):
    """A setting that cannot be used; the message says which and what is expected."""


@dataclass(frozen=True, slots=True)
class DataConnection:
    """A database, folder or bucket that studies may read: its name in manifests, its address, its users."""

    name: str
    address: str = field(repr=False)
    organisations: tuple[str, ...] = ()  # names; "*" is all

    def is_open_to(self, organisation: str) -> bool:
        """Whether the studies of an organisation may use it."""
        return organisation in self.organisations or "*" in self.organisations

    def holds(self, data: Path) -> bool:
        """Whether it is a folder that has, or is within, the data of the service."""
        path = Path(self.address.strip().removeprefix("file://"))
        if not path.is_absolute():
            return False
        folder, data = path.resolve(), data.resolve()
        return folder.is_relative_to(data) or data.is_relative_to(folder)


@dataclass(frozen=True, slots=True)
class Settings:
    """Where data lie and what is allowed. Sizes are bytes, times seconds.

    Every field but `data` can be set by a variable of the environment, ``TRUSTREPORT_JOB_MEMORY=2e9``, or by
    a file that a variable names, ``TRUSTREPORT_DATABASE_FILE=/run/secrets/database``.
    `database` is an SQLAlchemy address; empty means SQLite in the data folder.
    """

    data: Path
    database: str = ""
    files: str = ""  # s3://bucket/prefix; empty: "blobs" in the data folder
    files_endpoint: str = ""  # empty: AWS_ENDPOINT_URL, else that of the region
    files_http: int = 0  # 1: the endpoint may be http
    files_key: str = ""  # empty: AWS_ACCESS_KEY_ID, or what else the environment gives
    files_secret: str = ""

    host: str = "127.0.0.1"
    port: int = 8000
    tls_certificate: str = ""  # PEM file of the certificate and those between; empty: a proxy does TLS
    tls_key: str = ""  # PEM file of its key
    tls_authority: str = ""  # PEM file of the authority that users trust; empty: those of this machine
    workers: int = 1  # reports at a time inside `serve`; 0 leaves them to `trustreport worker`
    backend: str = ""  # "dask": heavy steps of reports are computed on the cluster that Dask's settings name

    most_body: int = 500 * MB  # of an upload
    most_json: int = 10 * MB  # of any other request
    most_unpacked: int = 2000 * MB  # of all files of a zip
    most_files: int = 500  # in one version of a study

    jobs_waiting: int = 100  # of one organisation
    storage: int = 200_000 * MB  # of the files of one organisation

    least_free: int = 500 * MB  # of the disk; with less, no uploads are taken

    requests_a_minute: int = 600  # of one account or token
    logins_a_minute: int = 10  # failed ones, of one account and of one address

    session_hours: float = 12
    idle_minutes: float = 60
    token_days: int = 365  # the longest life of an API token
    link_hours: float = 24  # of setup links and invitations

    second_factor: int = 0  # 1: required of every local account

    single: int = 0  # 1: for one person on this machine, who comes in by a link that each start prints

    oidc_issuer: str = ""  # the identity provider; empty: accounts with passwords alone
    oidc_client_id: str = ""
    oidc_client_secret: str = ""  # empty: a public client
    oidc_scopes: str = "openid email profile"
    oidc_groups: str = "groups"  # the claim with the groups
    oidc_roles: str = ""  # YAML: which group has which roles in which organisation
    oidc_create: int = 1  # accounts are made at the first sign-in of a member of such a group
    oidc_only: int = 0  # 1: who has an account there does not sign in with a password here
    oidc_days: int = 30  # passwords and API tokens of its accounts rest so long after the last sign-in there
    oidc_name: str = ""  # what the button says; empty: the issuer's host

    lease: float = 30  # after so long without a sign of life a job is taken from its worker
    attempts: int = 3  # a job that ended its worker so often has failed
    job_memory: int = 6000 * MB
    job_cpu: int = 3600
    job_wall: int = 5400
    check_wall: int = 600
    job_output: int = 1000 * MB  # the largest file that a job may write

    connections: tuple[DataConnection, ...] = ()  # TRUSTREPORT_CONNECTION_<NAME>
    query_seconds: int = 300  # of one query of a study
    query_rows: int = 1_000_000
    export_bytes: int = 500 * MB  # the largest export that is taken from a folder or bucket
    export_quiet: int = 60  # seconds for which it must not have changed
    retry_seconds: int = 6 * 3600  # for which a scheduled period waits for its data

    heads: str = ""  # folder for the signed heads of the log; empty: "heads" in the data folder
    webhook_networks: str = ""  # private networks that webhooks may reach: "10.1.0.0/16, 127.0.0.0/8"
    traces: int = 0  # 1: OpenTelemetry, to where the variables OTEL_* say
    metrics_token: str = ""  # asked of whoever reads /metrics; empty: loopback only
    proxies: int = 0  # reverse proxies in front, each of which adds to X-Forwarded-For
    public_url: str = ""  # how the service is reached from outside, for links

    smtp_host: str = ""  # empty: no mail is sent, and administrators pass links on
    smtp_port: int = 587
    smtp_security: str = "starttls"  # or tls (from the first byte, port 465), or none
    smtp_user: str = ""  # empty: without logging in
    smtp_password: str = ""
    mail_from: str = ""  # the sender's address
    share_days: int = 90  # the longest life of a link to one report
    language: str = "en"  # of pages for who asks for none that there is, and of mail

    def __post_init__(self) -> None:
        wrong = self._wrong_files()
        if self.backend and self.backend not in BACKENDS:
            wrong.append(f"TRUSTREPORT_BACKEND={self.backend!r}: expected {', '.join(BACKENDS)}, or nothing")
        if bool(self.tls_certificate) != bool(self.tls_key):
            wrong.append(
                "TRUSTREPORT_TLS_CERTIFICATE and TRUSTREPORT_TLS_KEY: found one, expected both or none"
            )
        if self.smtp_security not in SMTP_SECURITY:
            wrong.append(
                f"TRUSTREPORT_SMTP_SECURITY={self.smtp_security!r}: expected {', '.join(SMTP_SECURITY)}"
            )
        if self.smtp_host and "@" not in self.mail_from:
            wrong.append(f"TRUSTREPORT_MAIL_FROM={self.mail_from!r}: expected the address of the sender")
        if self.single and not self.is_loopback:
            wrong.append(
                f"TRUSTREPORT_SINGLE={self.single}: for this machine alone, found the host {self.host}"
            )
        if self.language not in offered():
            wrong.append(f"TRUSTREPORT_LANGUAGE={self.language!r}: expected {', '.join(offered())}")
        wrong += [
            f"TRUSTREPORT_CONNECTION_{one.name.upper()}: expected a folder outside of the data folder"
            for one in self.connections
            if one.holds(self.data)
        ]
        if wrong:
            raise Unsuitable("; ".join(wrong))

    def _wrong_files(self) -> list[str]:
        """What is wrong with where files are kept."""
        if not self.files:
            return []
        wrong = []
        if not FILES.fullmatch(self.files):
            wrong.append(f"TRUSTREPORT_FILES={self.files!r}: expected s3://bucket or s3://bucket/prefix")
        if bool(self.files_key) != bool(self.files_secret):
            wrong.append("TRUSTREPORT_FILES_KEY and TRUSTREPORT_FILES_SECRET: expected both, or none")
        wrong += [
            f"TRUSTREPORT_{name.upper()}={getattr(self, name)}: expected at most {LARGEST_OBJECT} with "
            "files in a bucket, which takes no larger ones"
            for name in ("most_body", "most_unpacked", "job_output")
            if getattr(self, name) > LARGEST_OBJECT
        ]
        return wrong

    @property
    def sends_mail(self) -> bool:
        """Whether there is a server that takes mail."""
        return bool(self.smtp_host)

    @property
    def address(self) -> str:
        """The database's address."""
        return self.database or f"sqlite:///{self.data / 'trustreport.db'}"

    @property
    def allowed_networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """The private networks that webhooks may reach."""
        names = [name.strip() for name in self.webhook_networks.split(",") if name.strip()]
        try:
            return tuple(ipaddress.ip_network(name) for name in names)
        except ValueError as error:
            raise Unsuitable(
                f"TRUSTREPORT_WEBHOOK_NETWORKS={self.webhook_networks!r}: {error}. "
                "Expected networks such as 10.1.0.0/16, with commas between them."
            ) from None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return self.host in LOOPBACK

    @property
    def url(self) -> str:
        """The address that links begin with."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "https" if self.tls_certificate else "http"
        return self.public_url.rstrip("/") or f"{scheme}://{host}:{self.port}"


def from_environment(data: Path, environment: Mapping[str, str] = os.environ, **given: Any) -> Settings:
    """Settings from the environment, then from what was given (None: not given).

    Raises
    ------
    Unsuitable : a value that is not of its field's kind
    """
    settings = Settings(data.absolute())
    found: dict[str, Any] = {}
    for one in fields(Settings):
        text = _value_of(environment, f"TRUSTREPORT_{one.name.upper()}")
        if one.name in ("data", "connections") or text is None:
            continue
        found[one.name] = _read(one.name, text, type(getattr(settings, one.name)))
    found["connections"] = tuple(_connections(environment))
    found |= {name: value for name, value in given.items() if value is not None}
    if "database" in found:
        found["database"] = with_driver(found["database"])
    made = replace(settings, **found)
    _ = made.allowed_networks  # refused before anything starts
    return made


def _connections(environment: Mapping[str, str]) -> Iterator[DataConnection]:
    """What studies may read, of TRUSTREPORT_CONNECTION_<NAME> and ..._<NAME>_ORGANISATIONS."""
    names = {found[1] for variable in environment if (found := CONNECTION.fullmatch(variable))}
    for name in sorted(name for name in names if not name.endswith(ORGANISATIONS)):
        variable = f"TRUSTREPORT_CONNECTION_{name}"
        open_to = _value_of(environment, f"{variable}{ORGANISATIONS}") or ""
        organisations = tuple(one.strip() for one in open_to.split(";") if one.strip())
        yield DataConnection(name.lower(), _value_of(environment, variable) or "", organisations)


def _value_of(environment: Mapping[str, str], variable: str) -> str | None:
    file = environment.get(f"{variable}_FILE")
    if file is None or variable in environment:
        return environment.get(variable)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Unsuitable(f"{variable}_FILE={file!r} cannot be read: {error.strerror}") from None


def _read(name: str, text: str, kind: type) -> Any:
    try:
        if kind is int:
            value = float(text)
            if value != int(value) or value < 0:
                raise ValueError
            return int(value)
        return kind(text)
    except ValueError:
        raise Unsuitable(
            f"TRUSTREPORT_{name.upper()}={text!r}: expected {kind.__name__}, 0 or more"
        ) from None
