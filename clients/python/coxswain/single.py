"""An environment with one agent, for Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium

from .connection import DEFAULT_URL, Session
from .errors import CoxswainError
from .spaces import space_from, value_from, value_to


class SingleEnv(gymnasium.Env):
    """Made by `make`. An action that the space does not have is refused, and the episode stays as it was."""

    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, session: Session):
        self._session = session
        self.observation_space = space_from(session.ready["observationSpace"])
        self.action_space = space_from(session.ready["actionSpace"])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        super().reset(seed=seed)
        observed = self._session.reset(seed, options)
        return self._seen(observed), observed.get("info", {})

    def step(self, action):
        observed = self._session.step({"action": value_to(self.action_space, action)})
        ends = bool(observed.get("terminated", False)), bool(observed.get("truncated", False))
        return self._seen(observed), float(observed.get("reward", 0.0)), *ends, {}

    def close(self):
        self._session.close()

    def _seen(self, observed: dict[str, Any]):
        return value_from(self.observation_space, observed.get("observation", []))


def make(env_id: str, *, url: str = DEFAULT_URL, token: str | None = None, timeout: float = 60.0, **settings: Any) -> SingleEnv:
    """An environment of a host by its id; `settings` are the environment's own."""
    session = Session(env_id, url, token, timeout, settings)
    if session.ready.get("possibleAgents"):
        session.close()
        raise CoxswainError("env.config", f"'{env_id}' has many agents; make it with coxswain.parallel_env")
    return SingleEnv(session)
