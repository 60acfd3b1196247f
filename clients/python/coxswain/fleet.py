"""A fleet of agents on one platform, for PettingZoo's parallel API."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from .connection import DEFAULT_URL, Session
from .errors import CoxswainError
from .spaces import space_from, value_from, value_to


class FleetEnv(ParallelEnv):
    """Made by `parallel_env`. Where choices are masked, an observation is {"observation", "action_mask"}, as PettingZoo has it.

    Agents come and go: one that leaves is terminated, one that joins is in `agents` and in all answers from then on.
    """

    def __init__(self, env_id: str, session: Session):
        self._session = session
        ready = session.ready
        self.metadata = {"name": env_id, "render_modes": [], "is_parallelizable": True}
        self.render_mode = None
        self.possible_agents: list[str] = list(ready["possibleAgents"])
        self.agents: list[str] = []
        self._mask = int(ready.get("maskSize", 0))
        self._whole = space_from(ready["observationSpace"])
        # Each agent has its own, so that each can be seeded.
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: space_from(ready["actionSpace"]) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None):
        """PettingZoo passes options that only some environments know; fleets know none, so they are not sent."""
        observed = self._session.reset(seed, None)
        members = observed.get("agents", [])
        self.agents = [member["agent"] for member in members]
        info = observed.get("info", {})
        return self._seen(members), {agent: dict(info) for agent in self.agents}

    def step(self, actions: dict[str, Any]):
        for agent in actions:
            if agent not in self.action_spaces:
                raise CoxswainError("fleet.unknown-agent", f"there is no agent '{agent}'; take a name from env.agents")
        sent = [{"agent": agent, "action": value_to(self.action_spaces[agent], action)} for agent, action in actions.items()]
        members = self._session.step({"actions": sent}).get("agents", [])
        terminated = {member["agent"]: bool(member.get("terminated", False)) for member in members}
        truncated = {member["agent"]: bool(member.get("truncated", False)) for member in members}
        self.agents = [agent for agent in terminated if not (terminated[agent] or truncated[agent])]
        rewards = {member["agent"]: float(member.get("reward", 0.0)) for member in members}
        return self._seen(members), rewards, terminated, truncated, {agent: {} for agent in terminated}

    def close(self):
        self._session.close()

    def _observation_space(self) -> spaces.Space:
        if self._mask == 0:
            return self._whole
        low, high = self._whole.low[: -self._mask], self._whole.high[: -self._mask]
        mask = spaces.Box(0, 1, (self._mask,), np.int8)
        return spaces.Dict({"observation": spaces.Box(low, high, dtype=np.float32), "action_mask": mask})

    def _seen(self, members: list[dict[str, Any]]) -> dict[str, Any]:
        return {member["agent"]: self._one(member.get("observation", [])) for member in members}

    def _one(self, given: list[Any]) -> Any:
        values = value_from(self._whole, given)
        if self._mask == 0:
            return values
        return {"observation": values[: -self._mask], "action_mask": values[-self._mask :].astype(np.int8)}


def parallel_env(env_id: str, *, url: str = DEFAULT_URL, token: str | None = None, timeout: float = 60.0, **settings: Any) -> FleetEnv:
    """A fleet of a host by its id; `settings` are the environment's own."""
    session = Session(env_id, url, token, timeout, settings)
    if not session.ready.get("possibleAgents"):
        session.close()
        raise CoxswainError("env.config", f"'{env_id}' has one agent; make it with coxswain.make")
    return FleetEnv(env_id, session)
