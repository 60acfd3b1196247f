"""Spaces of Gymnasium from what a host says, and values to and from the plain numbers that travel."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from .connection import numbers
from .errors import CoxswainError


def space_from(message: dict[str, Any]) -> spaces.Space:
    match message:
        case {"box": box}:
            low, high = (np.array([float(x) for x in box.get(side, [])], np.float32) for side in ("low", "high"))
            return spaces.Box(low, high, dtype=np.float32)
        case {"discrete": discrete}:
            return spaces.Discrete(discrete["options"])
        case {"multiDiscrete": multi}:
            return spaces.MultiDiscrete(multi["options"])
        case {"multiBinary": multi}:
            return spaces.MultiBinary(multi["size"])
        case {"tuple": parts}:
            return spaces.Tuple([space_from(part) for part in parts.get("parts", [])])
        case {"dict": parts}:
            return spaces.Dict([(part["name"], space_from(part["space"])) for part in parts.get("parts", [])])
    raise CoxswainError("env.unsupported-space", f"this client does not know the space {message}; use the host's version")


def size_of(space: spaces.Space) -> int:
    match space:
        case spaces.Discrete():
            return 1
        case spaces.Tuple():
            return sum(size_of(part) for part in space.spaces)
        case spaces.Dict():
            return sum(size_of(part) for part in space.spaces.values())
    return int(np.prod(space.shape))


def value_from(space: spaces.Space, given: list[Any]) -> Any:
    match space:
        case spaces.Discrete():
            return np.int64(given[0])
        case spaces.Tuple():
            return tuple(_parts(space.spaces, given))
        case spaces.Dict():
            return dict(zip(space.spaces, _parts(list(space.spaces.values()), given)))
    # Numbers that JSON does not have arrive as words.
    return np.array([float(x) for x in given], dtype=space.dtype)


def value_to(space: spaces.Space, value: Any) -> list[float]:
    try:
        match space:
            case spaces.Discrete():
                return numbers([value])
            case spaces.Tuple():
                return [x for part, item in zip(space.spaces, value, strict=True) for x in value_to(part, item)]
            case spaces.Dict():
                return [x for name, part in space.spaces.items() for x in value_to(part, value[name])]
        return numbers(np.asarray(value).reshape(-1))
    except (TypeError, ValueError, KeyError):
        raise CoxswainError("space.mismatch", f"{value!r} is no value of {space}; pass an action of the declared space") from None


def _parts(parts: Any, given: list[Any]) -> list[Any]:
    values, at = [], 0
    for part in parts:
        size = size_of(part)
        values.append(value_from(part, given[at : at + size]))
        at += size
    return values
