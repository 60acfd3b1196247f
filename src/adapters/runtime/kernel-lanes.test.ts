import { afterEach, describe, expect, test } from "vitest";
import { seededRng } from "../../base/index.ts";
import { ACT, buildRecurrent, type KernelLanes, type Kernels, type Ptr, singleLane } from "../../learn/tensor/index.ts";
import { type OpenLanes, openKernelLanes } from "./kernel-lanes.ts";
import { loadKernels, tryKernels } from "./load-kernels.ts";

const open: OpenLanes[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((lanes) => lanes.close()));
});

const sets = (["wasm", "native"] as const).filter((name) => tryKernels(name).ok);

async function lanesOf(prefer: Kernels["name"], threads: number): Promise<OpenLanes> {
  const lanes = await openKernelLanes({ prefer, threads });
  open.push(lanes);
  return lanes;
}

/** Outputs and gradients of a bidirectional GRU after a few passes. */
function passes(kernels: Kernels, lanes: KernelLanes): Float32Array {
  const [steps, batch, inputs, hidden] = [7, 5, 11, 33];
  const rng = seededRng(3);
  const shape = { inputs, hidden, steps, batch, layers: 2, bidirectional: true };
  const net = buildRecurrent(kernels, { cell: "gru", ...shape, rng: rng.fork("net"), lanes });
  const { memory } = kernels;
  const fill = (block: Float32Array) => {
    for (let i = 0; i < block.length; i++) block[i] = rng.next() - 0.5;
  };
  fill(memory.view(net.input, steps * batch * inputs));
  const outputs = steps * batch * net.outputs;
  const gradient = memory.alloc(outputs);
  fill(memory.view(gradient, outputs));
  const result = new Float32Array(outputs + net.paramCount);
  for (let pass = 0; pass < 5; pass++) {
    const out = net.forward(steps, batch);
    result.set(memory.view(out, outputs));
    net.backward(gradient);
  }
  result.set(memory.view(net.grads, net.paramCount), outputs);
  return result;
}

describe.each(sets)("%s kernels in lanes", (name) => {
  test("two threads compute the bits of one", async () => {
    const kernels = loadKernels({ prefer: name });
    const alone = passes(kernels, singleLane(kernels));
    expect(alone.some((v) => v !== 0)).toBe(true);
    for (const threads of [2, 3]) {
      const lanes = await lanesOf(name, threads);
      const together = passes(lanes.kernels, lanes);
      expect(Buffer.from(together.buffer)).toEqual(Buffer.from(alone.buffer));
    }
  });

  test("more calls than the queue holds, in order, also after the memory has grown", async () => {
    const { lanes, kernels, join } = bound(await lanesOf(name, 2));
    const far = kernels.memory.alloc(16 * 1024 * 1024);
    const x = kernels.memory.alloc(3);
    kernels.memory.view(x, 3).set([1, 2, 3]);
    for (let i = 0; i < 500; i++) {
      lanes[0]?.axpy(x, far, 3, 1);
      if (i % 100 === 99) lanes[0]?.scale(far, 3, 0);
    }
    lanes[0]?.activationForward(x, far, 3, ACT.none);
    lanes[0]?.axpy(x, far, 3, 10);
    join();
    expect([...kernels.memory.view(far, 3)]).toEqual([11, 22, 33]);
    expect(lanes[0]?.sumSquares(far, 3)).toBe(11 ** 2 + 22 ** 2 + 33 ** 2);
  });

  test("a call that fails in its thread fails the next join with a code, and nobody hangs", async () => {
    const { lanes, kernels, join } = bound(await lanesOf(name, 2));
    const outside = (kernels.memory.f32.length * 4 - 4) as Ptr;
    lanes[0]?.scale(outside, 1_000_000, 2);
    expect(join).toThrowError(expect.objectContaining({ code: "threads.worker-lost" }));
  });

  test("a lane that is closed fails with a code", async () => {
    const { lanes, kernels, close } = bound(await lanesOf(name, 2));
    await close();
    expect(() => lanes[0]?.scale(kernels.memory.alloc(1), 1, 2)).toThrowError(
      expect.objectContaining({ code: "threads.worker-lost" }),
    );
  });
});

const bound = (lanes: OpenLanes) => ({
  lanes: lanes.lanes,
  kernels: lanes.kernels,
  join: () => lanes.join(),
  close: () => lanes.close(),
});

test("the reference kernels have the calling thread only", async () => {
  const lanes = await lanesOf("reference", 4);
  expect(lanes.lanes).toEqual([lanes.kernels]);
});

test("thread counts out of range are refused", async () => {
  for (const threads of [0, 5, 1.5]) await expect(openKernelLanes({ threads })).rejects.toThrow(RangeError);
});
