"""The courier: carries what webhooks are to be told to their addresses, signed, one after another.

An address is looked up once, and what it is found at is where the connection goes: no name can lead into the network
that the server stands in, also not one that means something else when it is asked for again. Hosts of one's own are
allowed by name.
"""

from __future__ import annotations

import http.client
import ipaddress
import logging
import os
import socket
import ssl
import threading
from collections.abc import Collection
from urllib.parse import urlsplit

from goldlabel.collect.store import Store, system_clock
from goldlabel.collect.webhooks import SIGNATURE, Delivery, announce_finished, end_delivery, sign, take_delivery
from goldlabel.errors import StorageError

LOG = logging.getLogger("goldlabel.worker")

ALLOWED = "GOLDLABEL_WEBHOOK_HOSTS"
"""The variable with the names of hosts, joined by commas, that may be in a private network and without TLS."""
PATIENCE = 10.0
"""Seconds for connecting, and for each piece of the answer."""
LONGEST = 30.0
"""Seconds for all of it."""
PAUSE = 2.0
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Refused(Exception):  # noqa: N818 - not a fault: the log of deliveries says why
    """An address that nothing is sent to."""


def carry(store: Store, ended: threading.Event) -> None:
    """Carry deliveries until told to end."""
    hosts = allowed_hosts()
    while not ended.is_set():
        try:
            if carry_once(store, hosts):
                continue
            with store.write() as tx:
                announce_finished(tx)
        except StorageError as error:
            LOG.error("%s", error)
        ended.wait(PAUSE)


def carry_once(store: Store, hosts: Collection[str] = ()) -> bool:
    """Carry the next delivery that is due; say whether there was one."""
    with store.write() as tx:
        delivery = take_delivery(tx)
    if delivery is None:
        return False
    status, problem = None, ""
    try:
        status = deliver(delivery, hosts)
        if not 200 <= status < 300:
            problem = f"answered {status}"
    except (Refused, OSError, http.client.HTTPException, ValueError) as error:
        problem = str(error) or type(error).__name__
    with store.write() as tx:
        end_delivery(tx, delivery, status=status, problem=problem)
    return True


def deliver(delivery: Delivery, hosts: Collection[str] = ()) -> int:
    """Send a delivery and return the status it was answered with; redirects are not followed."""
    parts = urlsplit(delivery.url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    connection = _Connection(host, port, address_of(host, port, hosts), secure)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Goldlabel",
        SIGNATURE: sign(delivery.secret, delivery.body, int(system_clock().timestamp())),
    }
    guard = threading.Timer(LONGEST, connection.abort)
    guard.daemon = True
    guard.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, delivery.body.encode(), headers)
        return connection.getresponse().status
    finally:
        guard.cancel()
        connection.close()


def address_of(host: str, port: int, hosts: Collection[str] = ()) -> str:
    """Return an address of a host that is outside, or of one that is allowed by name."""
    found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if host not in hosts and not all(map(is_outside, found)):
        raise Refused(f"{host} is in a private network; name it in {ALLOWED} if it is meant")
    return found[0]


def is_outside(address: str) -> bool:
    """Say whether an address is on the internet, and none that only looks so."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and (ip.sixtofour or ip.teredo or ip.ipv4_mapped or ip in _NAT64):
        return False
    return ip.is_global and not ip.is_multicast


def allowed_hosts() -> set[str]:
    """Return the hosts that are allowed by name."""
    return {name.strip().lower() for name in os.environ.get(ALLOWED, "").split(",") if name.strip()}


class _Connection(http.client.HTTPConnection):
    """A connection to an address that was looked up before, under the name that it was looked up by."""

    def __init__(self, host: str, port: int, address: str, secure: bool) -> None:
        super().__init__(host, port, timeout=PATIENCE)
        self.address, self.secure = address, secure

    def connect(self) -> None:
        """Connect, with TLS where the address says so."""
        plain = socket.create_connection((self.address, self.port), PATIENCE)
        self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host) if self.secure else plain

    def abort(self) -> None:
        """End a connection that takes too long, whoever waits for it."""
        if self.sock is not None:
            self.sock.shutdown(socket.SHUT_RDWR)
