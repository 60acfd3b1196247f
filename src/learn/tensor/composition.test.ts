/**
 * Networks joined as the meta learner joins them: trajectories → recurrent encoder → mean over trajectories → dense →
 * embedding, put beside every observation → actor. The gradient must find its way back through all of it.
 */

import { describe, test } from "vitest";
import { expectClose, randomBlock, sets } from "../../../test/oracle/harness.ts";
import { feedForward } from "../../../test/oracle/layers.ts";
import { flat, matrix, numericalGradient } from "../../../test/oracle/matrix.ts";
import { runStack } from "../../../test/oracle/recurrent.ts";
import { seededRng } from "../../base/index.ts";
import { copyColumns, meanOverGroups, meanOverGroupsBackward, repeatRow, repeatRowBackward } from "./glue.ts";
import type { Kernels } from "./kernels.ts";
import { dense } from "./layers.ts";
import { buildNetwork, PARAMS_AND_INPUT } from "./network.ts";
import { buildRecurrent } from "./recurrent.ts";

const [steps, trajectories, step, hidden, embedding] = [3, 4, 2, 3, 2];
const [rows, observation, actions] = [5, 3, 2];
const stack = { cell: "gru", inputs: step, hidden, layers: 1, bidirectional: true } as const;
const denseLayers = [{ kind: "dense", inputs: 2 * hidden, outputs: embedding, activation: "tanh" }] as const;
const actorLayers = [
  { kind: "dense", inputs: observation + embedding, outputs: 4, activation: "relu" },
  { kind: "dense", inputs: 4, outputs: actions, activation: "tanh" },
] as const;

function build(kernels: Kernels) {
  return {
    encoder: buildRecurrent(kernels, { ...stack, steps, batch: trajectories, rng: seededRng(1) }),
    embedder: buildNetwork(kernels, { layers: [dense(2 * hidden, embedding, "tanh")], batch: 1, rng: seededRng(2) }),
    actor: buildNetwork(kernels, {
      layers: [dense(observation + embedding, 4, "relu"), dense(4, actions, "tanh")],
      batch: rows,
      rng: seededRng(3),
    }),
  };
}

const rng = seededRng(4);
const x = randomBlock(steps * trajectories * step, rng);
const observations = randomBlock(rows * observation, rng);
const pull = randomBlock(rows * actions, rng);
const initial = build(sets[0]!.make());
const start = [initial.encoder.snapshot(), initial.embedder.snapshot(), initial.actor.snapshot()] as const;

function oracle(encoder: ArrayLike<number>, embedder: ArrayLike<number>, actor: ArrayLike<number>): number[] {
  const ends = Array.from({ length: trajectories }, (_, j) => {
    const sequence = Array.from({ length: steps }, (_, t) =>
      Array.from({ length: step }, (_, i) => x[(t * trajectories + j) * step + i]!),
    );
    const out = runStack(stack, encoder, { sequence });
    return [...out[steps - 1]!.slice(0, hidden), ...out[0]!.slice(hidden)];
  });
  const mean = ends[0]!.map((_, i) => ends.reduce((sum, end) => sum + end[i]!, 0) / trajectories);
  const context = feedForward(denseLayers, embedder, [mean])[0]!;
  const inputs = matrix(observations, rows, observation).map((row) => [...row, ...context]);
  return flat(feedForward(actorLayers, actor, inputs));
}

const objective = (y: readonly number[]) => y.reduce((sum, value, i) => sum + value * pull[i]!, 0);
const wanted = [
  numericalGradient((p) => objective(oracle(p, start[1], start[2])), start[0]),
  numericalGradient((p) => objective(oracle(start[0], p, start[2])), start[1]),
  numericalGradient((p) => objective(oracle(start[0], start[1], p)), start[2]),
] as const;

describe.each(sets)("an encoder, an embedding and an actor on the $name kernels", ({ make }) => {
  test("act as the double-precision ones and pass gradients back to the encoder", () => {
    const kernels = make();
    const { memory } = kernels;
    const { encoder, embedder, actor } = build(kernels);
    const width = observation + embedding;
    const states = memory.alloc(trajectories * 2 * hidden);
    const dOutput = memory.alloc(rows * actions);
    const held = memory.alloc(rows * observation);
    memory.view(encoder.input, x.length).set(x);
    memory.view(held, observations.length).set(observations);
    memory.view(dOutput, pull.length).set(pull);

    encoder.forward(steps, trajectories);
    encoder.lastStates(states);
    const mean = { groups: 1, size: trajectories, cols: 2 * hidden };
    meanOverGroups(memory, { ...mean, from: states, into: embedder.input });
    const context = embedder.forward(1);
    const beside = { into: { ptr: actor.input, width, at: observation }, rows, cols: embedding };
    copyColumns(memory, {
      from: { ptr: held, width: observation },
      into: { ptr: actor.input, width },
      rows,
      cols: observation,
    });
    repeatRow(memory, { ...beside, row: context });
    const y = actor.forward(rows);
    expectClose(memory.view(y, pull.length), oracle(...start), 2e-6);

    const dActor = actor.backward(rows, dOutput, PARAMS_AND_INPUT);
    const dContext = memory.alloc(embedding);
    repeatRowBackward(memory, { ...beside, row: dContext, into: { ptr: dActor, width, at: observation } });
    const dMean = embedder.backward(1, dContext, PARAMS_AND_INPUT);
    const dStates = memory.alloc(trajectories * 2 * hidden);
    meanOverGroupsBackward(memory, { ...mean, from: dStates, into: dMean });
    const dAll = memory.alloc(steps * trajectories * 2 * hidden);
    encoder.lastStatesBackward(dStates, dAll);
    encoder.backward(dAll);
    for (const [i, net] of [encoder, embedder, actor].entries()) {
      expectClose(memory.view(net.grads, net.paramCount), wanted[i]!, 1e-5);
    }
  });
});
