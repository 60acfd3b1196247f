"""One session on a host of environments, with nothing but the standard library.

Owns: the connection, the session's token, logical time (episode and step), and failures as CoxswainError.
Not here: what numbers mean (spaces.py), environments (single.py, fleet.py).
"""

from __future__ import annotations

import http.client
import json
import math
import socket
from typing import Any
from urllib.parse import urlsplit

from .errors import CoxswainError

DEFAULT_URL = "http://127.0.0.1:7072"
PROTOCOL = 1
PATH = "/coxswain.env.v1.EnvService/Call"


class Session:
    """Opens on creation; `ready` is what the host said about the environment."""

    def __init__(self, env_id: str, url: str, token: str | None, timeout: float, settings: dict[str, Any]):
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname is None:
            raise CoxswainError("env.unreachable", f"'{url}' is not an address; write it like {DEFAULT_URL}")
        self._url = url
        self._http = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout)
        self._headers = {"content-type": "application/json"}
        if token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._init = {"protocol": PROTOCOL, "envId": env_id, "config": settings}
        self._episode = 0
        self._step = 0
        self.ready = self._open()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> dict[str, Any]:
        """A session that the host has forgotten is opened anew."""
        try:
            return self._reset(seed, options)
        except CoxswainError as error:
            if error.code != "env.session-lost":
                raise
        again = self._open()
        fixed = ("observationSpace", "actionSpace", "possibleAgents")
        if any(again.get(part) != self.ready.get(part) for part in fixed):
            raise CoxswainError("env.changed", "the host came back with other spaces under this id; make the environment anew")
        self.ready = again
        return self._reset(seed, options)

    def step(self, what: dict[str, Any]) -> dict[str, Any]:
        """`what` is the action, or the actions of a fleet."""
        answer = self._call({"step": {"episode": self._episode, "step": self._step, **what}})
        self._step += 1
        return self._observed(answer)

    def close(self) -> None:
        try:
            self._call({"close": {}})
        except CoxswainError:
            pass  # Whoever cannot be told forgets the session by itself.
        self._http.close()

    def _open(self) -> dict[str, Any]:
        self._token = ""
        self._episode = 0
        ready = self._call({"init": self._init}).get("ready")
        if ready is None:
            raise self._foreign()
        self._token = ready["resumeToken"]
        return ready

    def _reset(self, seed: int | None, options: dict[str, Any] | None) -> dict[str, Any]:
        self._episode += 1
        self._step = 0
        call: dict[str, Any] = {"episode": self._episode}
        if seed is not None:
            call["seed"] = str(seed)
        if options:
            call["options"] = options
        return self._observed(self._call({"reset": call}))

    def _observed(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "observed" not in answer:
            raise self._foreign()
        return answer["observed"]

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._token:
            message["resumeToken"] = self._token
        try:
            body = json.dumps(message, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise CoxswainError("env.options", f"a setting, option or action is not plain finite JSON ({error})") from None
        status, text = self._exchange(body)
        try:
            answer = json.loads(text)
        except ValueError:
            raise self._foreign() from None
        if status in (401, 403):
            raise CoxswainError("env.token-refused", f"the host at {self._url} refuses this client: {answer.get('message')}")
        if status != 200:
            raise CoxswainError("env.protocol", f"the host at {self._url} answered {status}: {answer.get('message')}")
        problem = answer.get("problem")
        if problem is not None:
            raise CoxswainError(problem.get("code", "env.protocol"), problem.get("sentence", ""))
        return answer

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        """Twice where the connection broke: the host answers from memory what it has done already."""
        for attempt in (1, 2):
            was_open = self._http.sock is not None
            try:
                self._http.request("POST", PATH, body, self._headers)
                response = self._http.getresponse()
                return response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                self._http.close()
                if was_open and attempt == 1 and not isinstance(error, socket.timeout):
                    continue
                if isinstance(error, http.client.HTTPException):
                    raise self._foreign() from error
                raise CoxswainError(
                    "env.unreachable",
                    f"the host at {self._url} cannot be reached ({error}); start it with 'coxswain env serve', or check the address",
                ) from error
        raise AssertionError("unreachable")

    def _foreign(self) -> CoxswainError:
        return CoxswainError(
            "env.protocol", f"what answers at {self._url} is not a host of environments; check address and version"
        )


def numbers(value: Any) -> list[float]:
    """A space's value as the plain numbers that travel."""
    flat = [float(number) for number in value]
    if not all(math.isfinite(number) for number in flat):
        raise CoxswainError("space.mismatch", "an action has a number that is not finite; check the policy")
    return flat
