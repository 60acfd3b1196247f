import { expect, test } from "vitest";
import { restoreRng, seededRng } from "../../base/index.ts";
import { referenceKernels } from "../tensor/index.ts";
import type { NumberBlock } from "./checkpoint.ts";
import { ActionVae, clippedLatent, klToStandardNormal } from "./vae.ts";

test("the divergence from the standard normal by hand", () => {
  expect(klToStandardNormal(0, 0)).toBeCloseTo(0, 12);
  expect(klToStandardNormal(2, 0)).toBeCloseTo(2, 12);
  // σ = e: ½(e² − 1) − 1.
  expect(klToStandardNormal(0, 1)).toBeCloseTo(0.5 * (Math.E ** 2 - 1) - 1, 12);
});

test("latents are cut at the clip on both sides and left alone within", () => {
  expect([-2, -0.5, 0.3, 0.5, 7].map((draw) => clippedLatent(draw, 0.5))).toEqual([-0.5, -0.5, 0.3, 0.5, 0.5]);
});

// ── One step against a double-precision oracle ───────────────────────────────────────────────────────────────────────

const hidden = [5, 4];
const [state, actions, latent, batch] = [2, 1, 2, 3];

/** A ReLU perceptron in double precision over flat parameters: weights [inputs, outputs], then the bias, per layer. */
function mlp(params: ArrayLike<number>, x: readonly number[], widths: readonly number[]): number[] {
  let at = 0;
  let y = [...x];
  widths.forEach((outputs, layer) => {
    const inputs = y;
    y = Array.from({ length: outputs }, (_, o) => {
      let sum = params[at + inputs.length * outputs + o] ?? Number.NaN;
      inputs.forEach((value, i) => {
        sum += value * (params[at + i * outputs + o] ?? Number.NaN);
      });
      return layer < widths.length - 1 ? Math.max(sum, 0) : sum;
    });
    at += inputs.length * outputs + outputs;
  });
  return y;
}

const rows = [
  { seen: [0.5, -1], action: 0.25 },
  { seen: [-0.25, 0.75], action: -0.5 },
  { seen: [1.5, 0.125], action: 0.875 },
];

interface Networks {
  readonly encoder: ArrayLike<number>;
  readonly decoder: ArrayLike<number>;
}

/** The loss as the paper's code has it: squared error of the decoded action plus half the mean divergence. */
function oracleLoss({ encoder, decoder }: Networks, draws: readonly number[]): number {
  let loss = 0;
  rows.forEach(({ seen, action }, i) => {
    const code = mlp(encoder, [...seen, action], [...hidden, 2 * latent]);
    const z = Array.from({ length: latent }, (_, k) => {
      const [mean = 0, logStd = 0] = [code[k], Math.max(code[latent + k] ?? 0, -4)];
      loss += (0.5 * klToStandardNormal(mean, logStd)) / (batch * latent);
      return mean + Math.exp(logStd) * (draws[i * latent + k] ?? 0);
    });
    const decoded = Math.tanh(mlp(decoder, [...seen, ...z], [...hidden, actions])[0] ?? Number.NaN);
    loss += (decoded - action) ** 2 / batch;
  });
  return loss;
}

function numericalGradient(loss: (params: Float64Array) => number, from: ArrayLike<number>): number[] {
  const params = Float64Array.from(from);
  return Array.from(params, (value, i) => {
    const step = 1e-6;
    params[i] = value + step;
    const above = loss(params);
    params[i] = value - step;
    const below = loss(params);
    params[i] = value;
    return (above - below) / (2 * step);
  });
}

function build() {
  const kernels = referenceKernels();
  const sizes = { state, actions, latent, hidden, batch, samples: 4, lr: 1e-3, klWeight: 0.5 };
  const vae = new ActionVae(kernels, { ...sizes, rng: seededRng(4) });
  const blocks = () =>
    new Map(vae.parts().flatMap((part) => Object.entries(part.read()).map(([k, v]) => [`${part.name}/${k}`, v])));
  const fill = () => {
    rows.forEach(({ seen, action }, i) => {
      kernels.memory.f32.set([...seen, action], (vae.trainInput >> 2) + i * (state + actions));
    });
  };
  return { kernels, vae, blocks, fill };
}

const values = (blocks: Map<string, NumberBlock>, name: string) => Float64Array.from(blocks.get(name) ?? []);

test("loss and gradients of encoder and decoder agree with a double-precision oracle", () => {
  const { vae, blocks, fill } = build();
  const before = blocks();
  const networks = {
    encoder: values(before, "vae encoder/params"),
    decoder: values(before, "vae decoder/params"),
  };
  const rng = seededRng(12);
  const copy = restoreRng(rng.state());
  const draws = Array.from({ length: batch * latent }, () => copy.normal());
  fill();
  expect(vae.train(rng)).toBeCloseTo(oracleLoss(networks, draws), 6);
  const after = blocks();
  for (const name of ["encoder", "decoder"] as const) {
    const want = numericalGradient((p) => oracleLoss({ ...networks, [name]: p }, draws), networks[name]);
    // After one step Adam's first moment is a tenth of the gradient.
    const got = values(after, `vae ${name} optimiser/moments`);
    expect(Math.max(...want.map(Math.abs))).toBeGreaterThan(1e-2);
    want.forEach((g, i) => {
      expect((got[i] ?? Number.NaN) / 0.1, `${name}, parameter ${i}`).toBeCloseTo(g, 4);
    });
  }
});

test("it learns which action goes with which state, and decodes near it for every latent within the clip", () => {
  const { kernels, vae, fill } = build();
  const rng = seededRng(3);
  for (let i = 0; i < 3_000; i++) {
    fill();
    vae.train(rng);
  }
  rows.forEach(({ seen, action }) => {
    [
      [0, 0],
      [0.5, -0.5],
      [-0.5, 0.5],
    ].forEach((z, i) => {
      kernels.memory.f32.set([...seen, ...z], (vae.sampleInput >> 2) + i * (state + latent));
    });
    const decoded = vae.decode(3) >> 2;
    for (let i = 0; i < 3; i++) expect(kernels.memory.f32[decoded + i]).toBeCloseTo(action, 1);
  });
  vae.dispose();
  expect(kernels.memory.used).toBe(referenceKernels().memory.used);
});
