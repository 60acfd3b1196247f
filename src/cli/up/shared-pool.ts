/**
 * What a shared model was trained on, as a map: the report that `coxswain pretrain` left in its folder.
 * Owns: reading it, again when it has changed, and who is whose neighbour. Not here: the report's making
 * (cli/pretraining), the route (server).
 */
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import type { Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import { KinshipMap, planarMap } from "../../learn/meta/index.ts";
import type { PoolMap, PoolShelf } from "../../server/index.ts";

const number = z.number();
const whole = z.int();
/** Loose: a report has more than a map shows, and later ones may have more still. */
const reportSchema = z.looseObject({
  applications: whole,
  seed: whole,
  rounds: whole,
  evaluation: z.looseObject({ known: number, neutral: number }),
  curves: z.array(z.looseObject({ round: whole, return: number })),
  map: z.looseObject({
    members: z.array(
      z.looseObject({
        name: z.string(),
        application: z.string(),
        sensitivity: z.string(),
        shape: z.string(),
        embedding: z.array(number).min(1),
      }),
    ),
  }),
});

type Report = z.output<typeof reportSchema>;

const REPORT = "report.json";
/** Of the curve: more cannot be told apart. */
const POINTS = 120;
const NEIGHBOURS = 5;

export function openSharedPool(folder: string): PoolShelf {
  const path = join(folder, REPORT);
  let known: { readonly stamp: string; readonly found: Result<PoolMap> } | undefined;
  return {
    async read() {
      try {
        const { mtimeMs, size } = await stat(path);
        const stamp = `${mtimeMs} ${size}`;
        if (known?.stamp !== stamp) known = { stamp, found: mapOf(path, await readFile(path, "utf8")) };
        return known.found;
      } catch (thrown) {
        return unreadable(path, thrown instanceof Error ? thrown.message : String(thrown));
      }
    },
  };
}

function mapOf(path: string, text: string): Result<PoolMap> {
  const parsed = reportSchema.safeParse(json(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return unreadable(path, `${issue?.path.join(".") || "the document"}: ${issue?.message ?? "it has another shape"}`);
  }
  const { members } = parsed.data.map;
  const width = members[0]?.embedding.length ?? 0;
  if (members.some(({ embedding }) => embedding.length !== width))
    return unreadable(path, "its embeddings have different lengths");
  return ok(pooled(basename(join(path, "..")), parsed.data, width));
}

function pooled(name: string, report: Report, width: number): PoolMap {
  const { applications, seed, rounds, evaluation, curves } = report;
  const { members } = report.map;
  const { places, shares, placeOf } = planarMap(members.map(({ embedding }) => embedding));
  const kin = new KinshipMap(
    members.map((member) => ({ name: member.name, embedding: Float32Array.from(member.embedding) })),
  );
  const { known, neutral } = evaluation;
  return {
    model: { name, applications, seed, rounds, known, neutral, curve: thinned(curves) },
    shares,
    members: members.map(({ name: member, application, sensitivity, shape, embedding }, index) => ({
      name: member,
      application,
      sensitivity,
      shape,
      place: places[index] ?? [0, 0],
      // Nobody is its own neighbour, and it is the nearest to itself.
      nearest: kin
        .of(embedding, NEIGHBOURS + 1)
        .nearest.filter((other) => other.name !== member)
        .slice(0, NEIGHBOURS),
    })),
    placeOf: (embedding) => (embedding.length === width ? placeOf(embedding) : null),
  };
}

/** Means of blocks, so that ups and downs are not cut but smoothed. */
function thinned(curves: Report["curves"]): PoolMap["model"]["curve"] {
  const size = Math.max(1, Math.ceil(curves.length / POINTS));
  return Array.from({ length: Math.ceil(curves.length / size) }, (_, index) => {
    const block = curves.slice(index * size, (index + 1) * size);
    return {
      round: block.at(-1)?.round ?? 0,
      return: block.reduce((sum, row) => sum + row.return, 0) / Math.max(1, block.length),
    };
  });
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const unreadable = (path: string, why: string): Result<never> =>
  err(
    failure(
      "plane.pool-unreadable",
      `the report of the shared model in ${path} cannot be read (${why.slice(0, 200)}); give the folder of a finished \`coxswain pretrain\``,
    ),
  );
