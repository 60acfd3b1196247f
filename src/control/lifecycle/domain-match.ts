/**
 * What an agent knows of the shared model behind its policy, and of how well that model knows its workload.
 * Owns: noticing that this has changed, and telling it once. Not here: what is said (familiarity.ts), embeddings (learn/meta).
 */
import type { Failure, Ms, Reason, Result } from "../../base/index.ts";
import type { Familiar, Familiarity, SharedModel } from "../../learn/meta/index.ts";
import type { FamiliarityReport } from "./familiarity.ts";
import { familiarityNotes, familiarityReport } from "./familiarity.ts";
import type { Evidence } from "./state.ts";
import type { AgentEvent } from "./tick.ts";

export class DomainMatch {
  readonly #shared: Result<SharedModel> | undefined;
  /** Why the model cannot be used, until it was told. */
  #untold: Failure | undefined;
  #seen: Familiarity | undefined;
  #report: FamiliarityReport | null = null;
  /** What was said of it last. */
  #told: Pick<FamiliarityReport, "state" | "model"> | null = null;

  /** A failure: the owner named a model, and it cannot be used. */
  constructor(shared: Result<SharedModel> | undefined) {
    this.#shared = shared;
    this.#untold = shared?.ok === false ? shared.failure : undefined;
  }

  get model(): Pick<SharedModel, "identity" | "bytes"> | null {
    if (!this.#shared?.ok) return null;
    const { identity, bytes } = this.#shared.value;
    return { identity, bytes };
  }

  /** A life begins. */
  start(at: Ms): Evidence {
    if (!this.#shared) return { kind: "start", at };
    return { kind: "start", at, shared: this.#shared.ok ? "ready" : "unusable" };
  }

  /** null without a shared model. */
  get report(): FamiliarityReport | null {
    return this.#report;
  }

  /** What a decision of the learner says about it. */
  get notes(): readonly Reason[] {
    return this.#report === null ? [] : familiarityNotes[this.#report.state];
  }

  /** The policy was trained before, on workloads like this one as far as anybody knows. A stranger has more to try out. */
  get isPractised(): boolean {
    return this.#report !== null && this.#report.state !== "stranger";
  }

  /** Looked at in every tick: costs nothing while the embedding is the same. */
  know(familiar: Familiar | undefined): void {
    const found = familiar?.familiarity();
    if (found === this.#seen) return;
    this.#seen = found;
    this.#report = familiar ? familiarityReport(familiar) : null;
  }

  /** After a restart it is as it was, and was told. */
  resume(familiar: Familiar | undefined): void {
    this.know(familiar);
    this.#told = this.#report;
  }

  /** What nobody was told yet. */
  news(at: Ms): readonly AgentEvent[] {
    const [untold, report, told] = [this.#untold, this.#report, this.#told];
    const isNew = report !== null && (report.state !== told?.state || report.model !== told.model);
    this.#untold = undefined;
    this.#told = report;
    return [
      ...(untold ? [{ at, name: "shared-model-unusable" as const, evidence: untold }] : []),
      ...(isNew ? [{ at, name: "embedding" as const, evidence: report }] : []),
    ];
  }
}
