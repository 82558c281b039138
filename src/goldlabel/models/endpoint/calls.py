"""Calls over HTTP: paced, retried, and read; what no retry can mend ends the run with one line."""

from __future__ import annotations

import asyncio
import email.utils
import os
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from goldlabel.errors import InputError
from goldlabel.models.endpoint.options import EndpointOptions
from goldlabel.models.endpoint.replies import Reply, read_reply
from goldlabel.models.endpoint.tally import Tally

if TYPE_CHECKING:
    import httpx

KEY = "OPENAI_API_KEY"
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_LIMIT = 600.0
"""Seconds that a server may ask us to wait, or keep us waiting by rate limits."""
MOST_FAILURES = 10
"""Calls that may fail one after another before the run stops: the server has gone, and all others would wait for it."""
_CONNECT = 10.0
_EXCERPT = 300
_AGAIN = (408, 409, 425)
_NO_ADDRESS = (404, 405, 410)
_EMPTY_PURSE = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


class RejectedError(Exception):
    """The server will not have this request, however often it is sent."""


class FailedError(Exception):
    """A call failed more often than it may be retried."""


class Pace:
    """When the next request may be sent; what a server asks for holds for all calls."""

    def __init__(self, requests_per_minute: float) -> None:
        self._gap = 60.0 / requests_per_minute
        self._not_before = 0.0

    async def turn(self) -> None:
        """Wait until one more request may be sent."""
        loop = asyncio.get_running_loop()
        while (wait := self._not_before - loop.time()) > 0:
            await asyncio.sleep(wait)
        self._not_before = loop.time() + self._gap

    def hold(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._not_before = max(self._not_before, asyncio.get_running_loop().time() + seconds)


class Caller:
    """Sends requests to one address; lives on one event loop."""

    def __init__(self, endpoint: str, address: str, options: EndpointOptions, tally: Tally) -> None:
        import httpx

        self._endpoint = endpoint
        self._address = address
        self._retries = options.retries
        self._timeout = options.timeout
        self._pace = Pace(options.requests_per_minute)
        self._key = os.environ.get(KEY, "").strip()
        self._tally = tally
        self._room = asyncio.Semaphore(options.concurrency)
        self._failures = 0
        self.answered = False
        """Whether any call was ever answered."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.AsyncClient(
            headers={**headers, "Content-Type": "application/json"},
            verify=address.startswith("https:"),  # reading the certificates takes longer than a local answer
            timeout=httpx.Timeout(None, connect=_CONNECT),
            limits=httpx.Limits(max_connections=options.concurrency, max_keepalive_connections=options.concurrency),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def post(self, body: bytes) -> Reply:
        """Send a request until it is answered."""
        failures, limited_since = 0, None
        loop = asyncio.get_running_loop()
        while True:
            reply, problem, pause = await self._attempt(body)
            if reply is not None:
                self._failures, self.answered = 0, True
                return reply
            if pause is None:
                failures += 1
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1)) * random.uniform(0.5, 1.0)
                limited = False
            else:
                limited_since = limited_since or loop.time()
                limited = loop.time() + pause > limited_since + LONGEST_LIMIT
            if failures > self._retries or limited:
                raise self.give_up(problem)
            self._tally.retried += 1
            await asyncio.sleep(pause)

    def give_up(self, problem: str) -> FailedError:
        """Count a call that failed for good; stop where nothing is answered any more."""
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            raise self.stopped(
                f"{self._failures} calls in a row failed ({problem}); what was answered is kept, run again to go on"
            )
        return FailedError(problem)

    def stopped(self, why: str) -> InputError:
        """Return the one line with which a run ends."""
        return InputError(f"{self._endpoint}: {why}")

    async def _attempt(self, body: bytes) -> tuple[Reply | None, str, float | None]:
        """Send a request once; return the reply, or the problem and the seconds that the server wants us to wait."""
        import httpx

        async with self._room:
            await self._pace.turn()
            try:
                async with asyncio.timeout(self._timeout):
                    response = await self._client.post(self._address, content=body)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if not self.answered and not self._tally.retried:
                    raise self.stopped(
                        f"cannot be reached ({_words(error)}); is the server running, and the address right?"
                    ) from error
                return None, f"no connection ({_words(error)})", None
            except httpx.RequestError as error:
                self._tally.lost += 1
                return None, f"the connection broke off ({_words(error)})", None
            except TimeoutError:
                self._tally.lost += 1
                return None, f"no answer within {self._timeout:g} s", None
        if response.is_success:
            return self._read(response)
        return None, *self._judge(response)

    def _read(self, response: httpx.Response) -> tuple[Reply | None, str, None]:
        try:
            return read_reply(orjson.loads(response.content)), "", None
        except ValueError as error:
            self._tally.lost += 1
            return None, f"the response cannot be read ({error}): {self._excerpt(response)}", None

    def _judge(self, response: httpx.Response) -> tuple[str, float | None]:
        """Return the problem and how long to wait, or raise where it makes no sense to try again."""
        status, said = response.status_code, self._excerpt(response)
        problem = f"status {status}: {said}"
        if status == 401 or (status == 403 and not self.answered):
            wanted = f"does not accept the key in {KEY}" if self._key else f"wants an API key; set {KEY}"
            raise self.stopped(f"{wanted} ({problem})")
        if status in _NO_ADDRESS:
            raise self.stopped(f"has no such address or model ({problem}); the address ends before /chat/completions")
        if status == 402 or (status == 429 and any(code in said for code in _EMPTY_PURSE)):
            raise self.stopped(f"has no credit left ({problem}); what was answered is kept, run again to go on")
        if response.is_redirect:
            raise self.stopped(f"leads elsewhere (status {status}); give the address that it leads to")
        if status != 429 and status < 500 and status not in _AGAIN:
            raise RejectedError(problem)
        wait = _retry_after(response)
        if wait is None or wait <= 0:
            return problem, None
        if wait > LONGEST_LIMIT:
            raise self.stopped(f"asks us to wait {wait:,.0f} s ({problem}); what was answered is kept, run again then")
        self._pace.hold(wait)
        return problem, wait

    def _excerpt(self, response: httpx.Response) -> str:
        """Return the server's own words in one line, without the key that some repeat."""
        text = response.text
        try:
            error = orjson.loads(response.content)
            error = error.get("error", error)
            text = " ".join(str(error[name]) for name in ("message", "code", "param") if error.get(name))
        except (ValueError, AttributeError, TypeError):
            pass
        text = " ".join((text or response.text).split())
        return (text.replace(self._key, "…") if self._key else text)[:_EXCERPT]


def _retry_after(response: Any) -> float | None:
    """Read ``Retry-After``: seconds, or a date."""
    value = response.headers.get("retry-after", "").strip()
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return (email.utils.parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
