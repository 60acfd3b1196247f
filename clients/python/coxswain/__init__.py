"""Coxswain's environments in Python: Gymnasium for one agent, PettingZoo for a fleet.

Start a host with `coxswain env serve`, then `coxswain.make("FunctionsFluid-v0")` or `coxswain.parallel_env("FunctionsFleetFluid-v0")`.
"""

from .connection import DEFAULT_URL
from .errors import CoxswainError
from .fleet import FleetEnv, parallel_env
from .single import SingleEnv, make

__all__ = ["DEFAULT_URL", "CoxswainError", "FleetEnv", "SingleEnv", "make", "parallel_env"]
