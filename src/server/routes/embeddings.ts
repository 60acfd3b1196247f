/**
 * The map of workloads by embedding.
 * Owns: the port to what the shared model was trained on, and the route, which puts the managed workloads on that map.
 * Not here: computing embeddings (learn/meta), where the model lies (cli/up).
 */
import type { Result } from "../../base/index.ts";
import type { EmbeddingsDocument, Place } from "../../contract/index.ts";
import { embeddingsSchema } from "../../contract/schemas/index.ts";
import { addEndpoint, type HonoApp } from "../endpoint.ts";
import type { ReadModel } from "../read-model/read-model.ts";

/** A model's pool, mapped. */
export interface PoolMap extends Pick<EmbeddingsDocument, "shares" | "members"> {
  readonly model: NonNullable<EmbeddingsDocument["model"]>;
  /** Where an embedding of the same model lies; null where it has another length. */
  placeOf(embedding: readonly number[]): Place | null;
}

export interface PoolShelf {
  /** null where there is no shared model. */
  read(): Promise<Result<PoolMap | null>>;
}

interface EmbeddingRoute {
  readonly model: Pick<ReadModel, "agents" | "workload">;
  readonly pool: PoolShelf;
}

export function addEmbeddingRoute(app: HonoApp, { model, pool }: EmbeddingRoute): void {
  addEndpoint(app, {
    id: "getEmbeddings",
    method: "get",
    path: "/v1/embeddings",
    tag: "control plane",
    summary: "The map of workloads by embedding: what the shared model was trained on, and where managed ones lie.",
    answer: embeddingsSchema,
    problems: [503],
    async handle() {
      const found = await pool.read();
      if (!found.ok) return { failure: found.failure };
      const workloads = model.agents().flatMap(({ id, workload, familiarity }) => {
        if (familiarity === null) return [];
        const { state, why, embedding, kin } = familiarity;
        const title = model.workload(workload)?.title ?? workload;
        const place = state === "neutral" ? null : (found.value?.placeOf(embedding) ?? null);
        return [{ workload, title, agent: id, state, why, place, nearest: kin }];
      });
      if (found.value === null) return { document: { model: null, shares: [0, 0] as const, members: [], workloads } };
      const { model: trained, shares, members } = found.value;
      return { document: { model: trained, shares, members, workloads } };
    },
  });
}
