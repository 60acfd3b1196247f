"""CRISP (Uber's critical path analysis, USENIX ATC 2022) as a contender of `coxswain bench tracing`.

Arguments: the folder of a CRISP checkout, and a file of Jaeger JSON with many traces. Speaks the line protocol of
bench/native/line-protocol.h. Tasks:
  paths  critical paths of all traces in the file, from graphs that were built before
  file   the same from the file's bytes on: parse, build the graphs, find the paths
"""

import json
import logging
import os
import sys
import time
from array import array

sys.path.insert(0, sys.argv[1])
logging.disable(logging.CRITICAL)

from crisp.graph import Graph  # noqa: E402


def graphs(path: str) -> list:
    with open(path, "r", encoding="utf-8") as source:
        document = json.load(source)
    built = []
    for trace in document["data"]:
        root = next(span for span in trace["spans"] if not span["references"])
        service = trace["processes"][root["processID"]]["serviceName"]
        built.append(Graph({"data": [trace]}, service, root["operationName"], path, True))
    return built


def main() -> None:
    path = sys.argv[2]
    ready = graphs(path)

    def paths() -> list:
        return [graph.findCriticalPath() for graph in ready]

    def whole_file() -> list:
        return [graph.findCriticalPath() for graph in graphs(path)]

    tasks = {"paths": paths, "file": whole_file}
    print("ready CRISP", flush=True)
    for line in sys.stdin:
        parts = line.rstrip("\n").split(" ", 3)
        try:
            run = tasks[parts[1]]
            if parts[0] == "check":
                # Span ids count from 1 within a trace, so the sum of those on the path tells one path from another.
                answer = array("f", [float(sum(int(node.sid, 16) for node in path)) for path in run()])
                with open(parts[3], "wb") as out:
                    answer.tofile(out)
                reply = "ok"
            else:
                wall, cpu = time.perf_counter_ns(), time.process_time_ns()
                for _ in range(int(parts[2])):
                    run()
                reply = f"ok {time.perf_counter_ns() - wall} {time.process_time_ns() - cpu}"
        except Exception as error:  # the bench shows the reason and goes on without this figure
            reply = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:400]
        print(reply, flush=True)


if __name__ == "__main__":
    assert os.path.isdir(sys.argv[1]), "the first argument is the folder of a CRISP checkout"
    main()
