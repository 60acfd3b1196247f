"""What Gymnasium and PettingZoo demand of an environment, asked of a running host: check.py URL. Any failure ends with 1."""

import sys
import warnings

import coxswain
from coxswain import connection
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test

URL = sys.argv[1]


def code_of(job):
    try:
        job()
    except coxswain.CoxswainError as error:
        assert "\n" not in str(error) and len(str(error)) > 20, str(error)
        return error.code
    return None


def expect(code, job):
    found = code_of(job)
    assert found == code, f"expected {code}, found {found}"


def gymnasium_environments():
    for name in ("CartPole-v1", "Pendulum-v1", "FunctionsFluid-v0"):
        env = coxswain.make(name, url=URL)
        check_env(env, skip_render_check=True)
        env.close()


def fleets():
    for name, settings in (
        ("FunctionsFleetFluid-v0", {}),
        ("FunctionsFleetFluid-v0", {"functions": 5, "spares": 3, "churn": 4}),
        ("FunctionsFleetEvent-v0", {"functions": 3, "steps": 5}),
    ):
        env = coxswain.parallel_env(name, url=URL, **settings)
        parallel_api_test(env, num_cycles=60)
        env.close()
        parallel_seed_test(lambda: coxswain.parallel_env(name, url=URL, **settings), num_cycles=20)


def agents_come_and_go():
    # Every second step the oldest leaves and a spare one is added.
    env = coxswain.parallel_env("FunctionsFleetFluid-v0", url=URL, functions=3, spares=2, churn=2, steps=12)
    env.reset(seed=1)
    first, left, joined = list(env.agents), [], []
    assert len(first) == 3 and len(env.possible_agents) == 5
    while env.agents:
        before = set(env.agents)
        _, _, terminated, _, _ = env.step({agent: 0 for agent in env.agents})
        left += [agent for agent, gone in terminated.items() if gone]
        joined += [agent for agent in env.agents if agent not in before]
    assert left == first[:2], left
    assert joined == env.possible_agents[3:], joined
    env.reset(seed=1)
    assert env.agents == first
    env.close()


def failures():
    expect("env.unreachable", lambda: coxswain.make("CartPole-v1", url="http://127.0.0.1:9"))
    expect("env.unknown-id", lambda: coxswain.make("NoSuchThing-v9", url=URL))
    expect("env.config", lambda: coxswain.make("FunctionsFluid-v0", url=URL, colour="red"))
    expect("env.config", lambda: coxswain.make("FunctionsFleetFluid-v0", url=URL))
    expect("env.config", lambda: coxswain.parallel_env("CartPole-v1", url=URL))
    connection.PROTOCOL = 2
    expect("env.protocol", lambda: coxswain.make("CartPole-v1", url=URL))
    connection.PROTOCOL = 1
    env = coxswain.make("CartPole-v1", url=URL)
    expect("env.needs-reset", lambda: env.step(0))
    env.reset(seed=1)
    expect("space.mismatch", lambda: env.step(2))
    expect("space.mismatch", lambda: env.step(float("nan")))
    env.step(1)  # The episode is as it was.
    env.close()
    fleet = coxswain.parallel_env("FunctionsFleetFluid-v0", url=URL, functions=2)
    fleet.reset(seed=1)
    one, other = fleet.agents
    expect("space.mismatch", lambda: fleet.step({one: 0, other: 7}))
    expect("space.mismatch", lambda: fleet.step({one: 0}))
    expect("fleet.unknown-agent", lambda: fleet.step({one: 0, other: 0, "nobody": 0}))
    fleet.step({one: 0, other: 0})
    fleet.close()


for check in (gymnasium_environments, fleets, agents_come_and_go, failures):
    with warnings.catch_warnings():
        # Acrobatics of unbounded spaces and of episodes that end before all possible agents had their turn are no failures.
        warnings.simplefilter("ignore")
        check()
    print(f"passed {check.__name__}", flush=True)
