"""Run a collection project from a program: make it, fill it, invite people, and see how far they are.

    GOLDLABEL_ADDRESS=https://label.example GOLDLABEL_TOKEN=goldlabel_… python collect_api.py

The token is made on the account page; docs/api.md lists everything that can be asked.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class Client:
    def __init__(self, address: str, token: str) -> None:
        self.address = address.rstrip("/")
        self.token = token

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": str(uuid.uuid4())}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = Request(f"{self.address}/api/v1{path}", data, headers, method=method)
        try:
            with urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except HTTPError as error:
            sys.exit(f"{method} {path}: {json.loads(error.read())['message']}")


def main() -> None:
    ask = Client(os.environ["GOLDLABEL_ADDRESS"], os.environ["GOLDLABEL_TOKEN"])
    settings = {"pay.pair": "0.40", "qualification.training": 0}
    project = ask("POST", "/projects", {"name": "rivers", "protocol": "multi", "language": "en", "settings": settings})
    place = f"/projects/{project['id']}"
    texts = [f"The ferry number {number} left the quay before sunrise." for number in range(3)]
    added = ask("POST", f"{place}/premises", {"premises": [{"text": text, "genre": "ports"} for text in texts]})
    link = ask("POST", f"{place}/invitations", {"role": "writer", "uses": 20})["link"]
    print(f"project {project['name']}: {added['added']} premises added; writers join at {link}")
    for line in ask("GET", f"{place}/stats")["queue"]:
        print(f"{line['kind']} in {line['condition']}: {line['waiting']} waiting, {line['answered']} done")
    print("now", ask("PATCH", place, {"state": "paused"})["state"])


if __name__ == "__main__":
    main()
