/**
 * The meta learner on our engine, as its users call it: a fingerprint that gets one more trajectory, a bundle read anew,
 * a training pass, a decision under an embedding, a whole round of pre-training on one application.
 */

import { unwrap } from "../../src/base/index.ts";
import {
  createTrajectory,
  Fingerprint,
  inProcessRunner,
  layoutWidth,
  MetaLearner,
  Pretraining,
  pretrainDefaults,
  pretrainKinds,
  type Trajectory,
} from "../../src/learn/meta/index.ts";
import { Ddpg } from "../../src/learn/rl/index.ts";
import type { Kernels } from "../../src/learn/tensor/index.ts";
import { poolEntries, poolShape, poolWorld } from "../../src/pretraining/index.ts";
import { BlockReader } from "../engine/fixtures.ts";
import type { Task } from "../engine/line-server.ts";
import { BUNDLE, layout, metaConfig, STEPS } from "./fixtures.ts";

export interface MetaTaskChoice {
  readonly task: string;
  /** Of `meta-round`: applications that take part in a round. */
  readonly argument: string;
  fixture(name: string): Float32Array;
}

export function metaTask(kernels: Kernels, { task, fixture, argument }: MetaTaskChoice): Task | Promise<Task> {
  switch (task) {
    case "meta-trajectory":
      return trajectoryTask(kernels, fixture(task));
    case "meta-bundle":
      return bundleTask(kernels, fixture(task));
    case "meta-pass":
      return passTask(kernels, fixture(task));
    case "meta-decide":
      return decideTask(kernels, fixture(task));
    default:
      return roundTask(kernels, { applications: Number(argument) });
  }
}

interface Parts {
  readonly meta: MetaLearner;
  readonly bundle: readonly Trajectory[];
  readonly gradient: Float32Array;
}

function open(kernels: Kernels, fixture: Float32Array, options: { rows: number; trainable: boolean }): Parts {
  const { rows, trainable } = options;
  const meta = new MetaLearner({ kernels, config: { ...metaConfig, rows }, seed: 1, trainable });
  const blocks = new BlockReader(fixture);
  meta.setParameters(blocks.take(meta.parameters().length));
  const width = layoutWidth(layout);
  const bundle = Array.from({ length: BUNDLE }, (_, reward) => {
    const rows = Array.from({ length: STEPS }, () => blocks.take(width));
    return unwrap(createTrajectory(rows, { layout, reward }));
  });
  return { meta, bundle, gradient: blocks.take(metaConfig.embedding) };
}

/** Each one is better than all before, so it is kept and another one goes. */
function trajectoryTask(kernels: Kernels, fixture: Float32Array): Task {
  const { meta, bundle } = open(kernels, fixture, { rows: 1, trainable: false });
  const fingerprint = new Fingerprint(meta, { size: BUNDLE });
  for (const trajectory of bundle) unwrap(fingerprint.insert(trajectory));
  fingerprint.embedding();
  let reward = BUNDLE;
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        const trajectory = bundle[i % BUNDLE] as Trajectory;
        unwrap(fingerprint.insert({ ...trajectory, reward: ++reward }));
        if (fingerprint.embedding().trajectories !== BUNDLE) throw new Error("the bundle is not full");
      }
    },
    close: () => meta.dispose(),
  };
}

function bundleTask(kernels: Kernels, fixture: Float32Array): Task {
  const { meta, bundle } = open(kernels, fixture, { rows: BUNDLE, trainable: false });
  let embedding = new Float32Array(0);
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) embedding = Float32Array.from(meta.embed(meta.summarise(bundle)));
    },
    answer: () => embedding,
    close: () => meta.dispose(),
  };
}

function passTask(kernels: Kernels, fixture: Float32Array): Task {
  const { meta, bundle, gradient } = open(kernels, fixture, { rows: BUNDLE, trainable: true });
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        meta.forward([bundle]);
        meta.backward([gradient]);
        unwrap(meta.step());
      }
    },
    answer: () => Float32Array.from(meta.embed(meta.summarise(bundle))),
    close: () => meta.dispose(),
  };
}

/** One checked decision of the shared policy, as a control loop asks for it. */
function decideTask(kernels: Kernels, fixture: Float32Array): Task {
  const { embedding } = metaConfig;
  const shape = { ...poolShape, actorContext: embedding, criticContext: 0 };
  const policy = new Ddpg({ kernels, shape, config: pretrainDefaults.learner, seed: 1 });
  const seen = Array.from({ length: 256 }, (_, i) => fixture.slice(i * shape.obs, (i + 1) * shape.obs));
  const options = { explore: false, actorContext: new Float32Array(embedding).fill(0.1) };
  let sink = 0;
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) sink += unwrap(policy.act(seen[i % 256]!, options)).action[0]!;
    },
    value: () => sink,
    close: () => policy.dispose(),
  };
}

/**
 * Rounds of pre-training: each application plays, its trajectories go through the encoder and back, the encoder steps, the
 * base learner takes its steps. As many are read as ever are and nobody is a newcomer, which is the most that a visit costs.
 */
async function roundTask(kernels: Kernels, { applications }: { readonly applications: number }): Promise<Task> {
  const training = new Pretraining({
    pool: poolEntries({ seed: 1, part: "known" }, applications),
    shape: poolShape,
    config: {
      ...pretrainDefaults,
      environmentsPerRound: applications,
      // More than anybody waits for.
      visits: 10_000,
      newcomer: { ...pretrainDefaults.newcomer, share: 0 },
    },
    seed: 1,
    kernels,
    runner: inProcessRunner(pretrainKinds(poolWorld), kernels),
  });
  // A visit brings one trajectory under the embedding and one under the neutral one.
  const { bundle, readAtMost, episodesPerVisit } = pretrainDefaults;
  const visits = Math.ceil(Math.min(bundle, readAtMost) / (episodesPerVisit + 1));
  for (let round = 0; round <= visits; round++) await training.advance();
  return {
    async run(iterations) {
      for (let i = 0; i < iterations; i++) await training.advance();
    },
    close: () => training.dispose(),
  };
}
