"""Golden trajectories of Gymnasium's classic control environments.

Run once, from the root of the repository, when an environment is added or its version changes:

    python3 -m venv .golden && .golden/bin/pip install gymnasium==1.4.0 numpy==2.4.6
    .golden/bin/python tools/golden/classic_control.py test/fixtures/classic-control

Writes one JSON file per environment: its spaces and limits, and episodes with their first state, actions,
observations, rewards and ends. Number arrays are base64 of little-endian floats, so they are exact and small.
The full state is kept every `every` steps, because an upright pole or a swinging double pendulum multiplies the last
bit of a cosine by more than 1e16 within an episode, and two mathematics libraries need not agree on that bit. The test
puts the recorded state back at those steps, and compares everything between them. The other two run undisturbed.

Continuous actions are handed over in double precision (holding single-precision values), because otherwise NumPy
carries out part of the dynamics in single precision and the published equations are not what is tested.
"""

import base64
import json
import math
import os
import sys

import gymnasium as gym
import numpy as np

EVERY = {"CartPole-v1": 50, "Pendulum-v1": 200, "MountainCarContinuous-v0": 999, "Acrobot-v1": 50}


def packed(values, dtype):
    return base64.b64encode(np.asarray(values, dtype=dtype).tobytes()).decode()


def bounds(values):
    return ["inf" if v == math.inf else "-inf" if v == -math.inf else float(v) for v in values]


def space(s):
    if isinstance(s, gym.spaces.Discrete):
        return {"kind": "discrete", "options": int(s.n)}
    return {"kind": "box", "low": bounds(s.low), "high": bounds(s.high)}


def episode(env, policy, rng, state=None, name=""):
    """One episode to its end. `policy(state, step, rng)` gives an action; `state` replaces the drawn first state."""
    first, _ = env.reset(seed=int(rng.integers(2**31)))
    world = env.unwrapped
    if state is not None:
        world.state = np.array(state, dtype=np.float64)
    if env.spec.id == "MountainCarContinuous-v0":
        # What this environment keeps from its first step on.
        world.state = world.state.astype(np.float32)
    start = np.array(world.state, dtype=np.float64)
    actions, obs, rewards, states = [], [], [], []
    end = "no"
    while end == "no":
        if len(actions) % EVERY[env.spec.id] == 0:
            states.append(np.array(world.state, dtype=np.float64))
        action = policy(np.array(world.state, dtype=np.float64), len(actions), rng)
        if isinstance(env.action_space, gym.spaces.Box):
            action = np.array([np.float32(action)], dtype=np.float64)
        o, r, terminated, truncated, _ = env.step(action)
        actions.append(float(np.asarray(action).reshape(-1)[0]))
        obs.append(o)
        rewards.append(r)
        end = "terminated" if terminated else "truncated" if truncated else "no"
    record = {
        "name": name,
        "steps": len(actions),
        "start": [float(x) for x in start],
        "actions": packed(actions, "<f4"),
        "obs": packed(obs, "<f4"),
        "rewards": packed(rewards, "<f8"),
        "states": packed(states, "<f8"),
        "end": end,
    }
    if state is None:
        record["firstObs"] = packed(first, "<f4")
    return record


def cart_pole(env, rng):
    def random(s, t, g):
        return int(g.integers(2))

    def balance(s, t, g):
        return int(s[0] + 1.5 * s[1] + 20 * s[2] + 4 * s[3] + g.normal() * 0.5 > 0)

    for i in range(16):
        yield episode(env, random, rng, name=f"random {i}")
    yield episode(env, lambda s, t, g: 0, rng, [-2.2, -1.5, 0.0, 0.0], "over the left edge")
    yield episode(env, lambda s, t, g: 1, rng, [2.2, 1.5, 0.0, 0.0], "over the right edge")
    yield episode(env, lambda s, t, g: 1, rng, [0.0, 0.0, 0.15, 3.0], "falls fast")
    for i in range(2):
        yield episode(env, balance, rng, name=f"balanced to the time limit {i}")


def pendulum(env, rng):
    for i in range(3):
        yield episode(env, lambda s, t, g: g.uniform(-2, 2), rng, name=f"random {i}")
    yield episode(env, lambda s, t, g: g.uniform(-6, 6), rng, name="torque beyond the limit is cut")
    yield episode(env, lambda s, t, g: 2.0 if s[1] >= 0 else -2.0, rng, name="full turns, speed at its limit")
    yield episode(env, lambda s, t, g: -2.0, rng, [-9.0, -7.5], "many turns backwards")


def mountain_car(env, rng):
    yield episode(env, lambda s, t, g: g.uniform(-1, 1), rng, name="random to the time limit")
    for i in range(4):
        yield episode(
            env, lambda s, t, g: np.sign(s[1] + 1e-9) * g.uniform(0.6, 1), rng, name=f"swings up {i}"
        )
    yield episode(env, lambda s, t, g: np.sign(s[1] + 1e-9) * 1.7, rng, name="force beyond the limit is cut, not its cost")
    yield episode(env, lambda s, t, g: -1.0 if t < 60 else 1.0 if s[1] >= 0 else -1.0, rng, [-1.1, -0.06], "hits the wall")


def acrobot(env, rng):
    def pump(s, t, g):
        return int(g.integers(3)) if g.uniform() < 0.1 else (2 if s[3] > 0 else 0)

    for i in range(2):
        yield episode(env, lambda s, t, g: int(g.integers(3)), rng, name=f"random {i}")
    for i in range(5):
        yield episode(env, pump, rng, name=f"swings up {i}")
    yield episode(env, pump, rng, [0.0, 0.0, 12.56, 28.27], "speeds at their limits")
    yield episode(env, lambda s, t, g: 1, rng, [0.3, -0.2, 0.1, 0.4], "no torque at all")


RECIPES = {
    "CartPole-v1": cart_pole,
    "Pendulum-v1": pendulum,
    "MountainCarContinuous-v0": mountain_car,
    "Acrobot-v1": acrobot,
}


def main(folder):
    for env_id, recipe in RECIPES.items():
        env = gym.make(env_id, disable_env_checker=True)
        rng = np.random.default_rng(20240501)
        record = {
            "id": env_id,
            "source": f"gymnasium {gym.__version__}, numpy {np.__version__}, tools/golden/classic_control.py",
            "every": EVERY[env_id],
            "maxSteps": env.spec.max_episode_steps,
            "rewardThreshold": env.spec.reward_threshold,
            "observationSpace": space(env.observation_space),
            "actionSpace": space(env.action_space),
            "episodes": list(recipe(env, rng)),
        }
        path = os.path.join(folder, f"{env_id}.json")
        with open(path, "w") as f:
            json.dump(record, f, indent=1)
            f.write("\n")
        ends = [(e["name"], e["steps"], e["end"]) for e in record["episodes"]]
        print(path, os.path.getsize(path), ends)


if __name__ == "__main__":
    main(sys.argv[1])
