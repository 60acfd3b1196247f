/**
 * What a shared model makes of the workload that an agent manages, in words and plain data.
 * Owns: the report, what of it stands beside a decision, and whether a model fits a task at all.
 * Not here: embeddings and kin (learn/meta), what follows from being a stranger (adapted-learner.ts there, agent.ts here).
 */
import type { Reason, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { Familiar, SharedModel } from "../../learn/meta/index.ts";
import { actionSize } from "../../learn/rl/index.ts";
import type { AnyTask } from "../index.ts";

export interface FamiliarityReport {
  /** "neutral": too little was seen of it yet; "stranger": no member of the pool is as near as members usually are. */
  readonly state: "neutral" | "known" | "stranger";
  /** One sentence for a person. */
  readonly why: string;
  /** The shared model's identity. */
  readonly model: string;
  /** Trajectories that it is known by. */
  readonly trajectories: number;
  /** Empty while it is neutral. */
  readonly embedding: readonly number[];
  /** Members of the pool, most alike first. */
  readonly kin: readonly { readonly name: string; readonly similarity: number }[];
}

export function familiarityReport(learner: Familiar): FamiliarityReport {
  const { embedding, kinship } = learner.familiarity();
  const { trajectories } = embedding;
  const common = { model: learner.identity, trajectories };
  if (embedding.kind === "neutral" || kinship === undefined) {
    const why = embedding.kind === "neutral" ? embedding.why.message : "the shared model has no pool to compare with";
    return { ...common, state: "neutral", why, embedding: [], kin: [] };
  }
  const { nearest, isStranger, line } = kinship;
  const [most] = nearest;
  const alike = most
    ? `${most.name} is most like it, at ${most.similarity.toFixed(2)}`
    : "there is nobody to compare with";
  const why = isStranger
    ? `it is unlike all that the shared model was trained on: ${alike}, and members of the pool have one at ${line.toFixed(2)} or nearer; it is fine-tuned further`
    : `known by ${trajectories} trajectories: ${alike}`;
  const kin = nearest.map(({ name, similarity }) => ({ name, similarity }));
  return { ...common, state: isStranger ? "stranger" : "known", why, embedding: [...embedding.vector], kin };
}

/** What a decision of the learner says about it; nothing where all is as it should be. */
export const familiarityNotes: { readonly [state in FamiliarityReport["state"]]: readonly Reason[] } = {
  neutral: [{ by: "domain-match", rule: "neutral-embedding" }],
  stranger: [{ by: "domain-match", rule: "stranger" }],
  known: [],
};

type TaskShape = Pick<AnyTask, "name" | "observationSize" | "actionSize">;

/** The model, if agents of this task can begin from it. */
export function modelForTask(shared: SharedModel, task: TaskShape): Result<SharedModel> {
  const { shape, task: name } = shared.model;
  const wanted = { obs: task.observationSize, actions: task.actionSize };
  const found = { obs: shape.obs, actions: actionSize(shape.action) };
  if (name !== undefined && name !== task.name)
    return unfit(`it was trained for '${name}' and this task is '${task.name}'`);
  if (shape.action.kind !== "continuous" || found.obs !== wanted.obs || found.actions !== wanted.actions)
    return unfit(
      `its policy sees ${found.obs} numbers and decides ${found.actions}, and this task has ${wanted.obs} and ${wanted.actions}`,
    );
  return ok(shared);
}

const unfit = (why: string): Result<never> =>
  err(
    failure(
      "agent.shared-model",
      `the shared model does not fit the task: ${why}; pre-train one for this task, the fallback acts and a policy is trained from it meanwhile`,
    ),
  );
