"""PyTorch as a contender of `coxswain bench engine` and `bench meta`, on one thread, written the way its strong users write it.

Speaks the line protocol of bench/native/line-protocol.h on standard input and output:
  time <task> <iterations>            -> ok <wall nanoseconds> <processor nanoseconds>
  check <task> <steps> <answer file>  -> ok
Tasks are `<name>` for plain (eager) PyTorch and `<name>+compile` for the same code through torch.compile.
Fixtures (the first argument is their folder) are laid out by bench/engine/fixtures.ts: every weight is stored
[inputs, outputs], so it is transposed on the way in and out.
"""

import sys
import time

import numpy as np
import torch
from torch import nn

from torch_ddpg import Ddpg, Inference
from torch_gru import Gru
from torch_meta import MetaBundle, MetaDecide, MetaPass, MetaTrajectory
from torch_ppo import Ppo

TASKS = {
    "ddpg": Ddpg,
    "inference": Inference,
    "gru": Gru,
    "ppo": Ppo,
    "meta-trajectory": MetaTrajectory,
    "meta-bundle": MetaBundle,
    "meta-pass": MetaPass,
    "meta-decide": MetaDecide,
}


def serve(folder: str) -> None:
    ready: dict[str, object] = {}
    for line in sys.stdin:
        parts = line.rstrip("\n").split(" ", 3)
        try:
            verb, label, number = parts[0], parts[1], int(parts[2])
            name, _, mode = label.partition("+")
            if name not in TASKS:
                raise KeyError(f"no task {name}")
            if label not in ready or verb == "check":
                data = np.fromfile(f"{folder}/{name}.f32", dtype=np.float32)
                ready[label] = TASKS[name](torch.from_numpy(data.copy()), compiled=mode == "compile")
            task = ready[label]
            if verb == "check":
                task.run(number)
                task.answer().astype(np.float32).tofile(parts[3])
                reply = "ok"
            else:
                wall, cpu = time.perf_counter_ns(), time.process_time_ns()
                task.run(number)
                reply = f"ok {time.perf_counter_ns() - wall} {time.process_time_ns() - cpu}"
        except Exception as error:  # the bench shows the reason and goes on without this figure
            reply = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:400]
        print(reply, flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    assert nn  # the tasks need it; a broken installation should say so here
    print(f"ready torch {torch.__version__}", flush=True)
    serve(sys.argv[1])
