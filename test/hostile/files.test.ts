/**
 * Bytes of every kind of file that `coxswain up` keeps, damaged, and a start on them. It begins and says what it left out,
 * or refuses with one sentence that names the file and what to do. It never ends with a stack, and never believes what it
 * did not write: what people have set is as they set it, or the file is named.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { seededRng } from "../../src/base/index.ts";
import type { AgentDocument, WorkloadDocument } from "../../src/contract/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { isShort, SECONDS, SEED } from "./hostile-form.ts";
import { defectsIn, HostileUp } from "./hostile-up.ts";
import { FILE_KINDS, type FileKind, filesIn, fillFolder, KEPT, START_ARGS } from "./kept-files.ts";
import { DAMAGES, pick } from "./mutations.ts";

const made = temporaryFolder("hostile-files");
const KILLED = join(made, "killed");
const STOPPED = join(made, "stopped");
const NAMES = Object.keys(DAMAGES);

beforeAll(async () => {
  await fillFolder(KILLED, "killed");
  await fillFolder(STOPPED, "stopped");
});

/**
 * What the services' agents keep is of the same kinds, and comes only when their policy is trained. A kill may leave a file
 * that was being written and had no name yet: nobody reads it.
 */
const isKnown = (path: string): boolean =>
  FILE_KINDS.some(({ path: pattern }) => pattern.test(path)) || path.startsWith("services/") || path.endsWith(".tmp");

test("every file that it wrote is of a kind that is damaged here", () => {
  expect([...filesIn(KILLED), ...filesIn(STOPPED)].filter((path) => !isKnown(path))).toEqual([]);
  const found = [...filesIn(KILLED), ...filesIn(STOPPED)];
  expect(FILE_KINDS.filter(({ path }) => !found.some((file) => path.test(file)))).toEqual([]);
});

interface Found {
  readonly refused: string | null;
  readonly said: string;
  /** null where it did not start. */
  readonly settings: { readonly isPaused: boolean; readonly target: unknown } | null;
  readonly code: number | null;
  /** An answer to a question about what the stores keep that is neither 200 nor a failure with a code of theirs. */
  readonly asked: string | null;
}

/** Questions that make the stores read. */
const READ_BACK = [
  "/v1/traces?limit=100",
  "/v1/services/graph?from=0",
  `/v1/trajectories?agent=${KEPT.agent}&limit=200`,
];

async function startOn(folder: string): Promise<Found> {
  const up = new HostileUp(folder, START_ARGS);
  try {
    if ((await up.address()) === null) {
      const { code } = await up.ended;
      const sentences = up.said.split("\n").filter((line) => line.startsWith("coxswain: "));
      return { refused: sentences.join("\n"), said: up.said, settings: null, code, asked: null };
    }
    const [agent, workload] = await Promise.all([
      up.get<AgentDocument>(`/v1/agents/${KEPT.agent}`),
      up.get<WorkloadDocument>(`/v1/workloads/${KEPT.workload}`),
    ]);
    const { slo } = workload.body;
    const settings = {
      isPaused: agent.body.isPaused,
      target: "target" in slo ? slo.target : null,
    };
    const answers = await Promise.all(READ_BACK.map((path) => up.get<{ readonly code?: string }>(path)));
    const said = `${up.said}${JSON.stringify((await up.get("/readyz")).body)}\n`;
    // Closing reads and writes, too; what it takes is only there in the long form.
    if (isShort) await up.kill();
    else await up.stop();
    const uncoded = answers.find(
      ({ status, body }) => status !== 200 && !/^(?:store|services)\./.test(body.code ?? ""),
    );
    const asked = uncoded === undefined ? null : `${uncoded.status} ${JSON.stringify(uncoded.body)}`;
    return { refused: null, said: `${said}${up.said}`, settings, code: null, asked };
  } finally {
    await up.kill();
  }
}

const AS_SET = { isPaused: true, target: KEPT.target };
const ENDS = new Set(["cut off", "emptied"]);

interface Case {
  readonly kind: FileKind;
  readonly damage: string;
  readonly draw: number;
}

/** What is wrong with how a start took it; nothing where all is well. */
async function attempt({ kind, damage, draw }: Case): Promise<string | null> {
  const rng = seededRng(SEED).fork(`${kind.name} ${damage} ${draw}`);
  const all = [KILLED, STOPPED].map((from) => ({ from, files: filesIn(from).filter((path) => kind.path.test(path)) }));
  const { from, files } = pick(
    rng,
    all.filter((one) => one.files.length > 0),
  );
  const file = pick(rng, files);
  const folder = join(made, "damaged");
  rmSync(folder, { recursive: true, force: true });
  cpSync(from, folder, { recursive: true });
  const before = readFileSync(join(folder, file));
  const bytes = DAMAGES[damage]?.(before, rng) ?? before;
  if (before.equals(bytes)) return null;
  writeFileSync(join(folder, file), bytes);
  const found = await startOn(folder);
  const where = `${kind.name}, ${file} (${from === KILLED ? "killed" : "stopped"}), ${damage}`;
  const wrong = whatIsWrong(found, { file, kind, damage });
  return wrong === null ? null : `${where}: ${wrong}\n${found.said.slice(-3_000)}`;
}

function whatIsWrong(
  { refused, said, settings, code, asked }: Found,
  { file, kind, damage }: Omit<Case, "draw"> & { readonly file: string },
): string | null {
  const [defect] = defectsIn(said);
  if (defect !== undefined) return `a defect: ${defect.slice(0, 500)}`;
  if (refused !== null) {
    if (code !== 1) return `it ended with code ${code}`;
    if (refused === "" || refused.includes("\n")) return "it did not end with one sentence";
    return refused.includes(file.replace(/\.wal$/, "")) ? null : "the sentence does not name the file";
  }
  if (asked !== null) return `a question was answered ${asked}`;
  // People's own settings are in files that are refused; no other file may change them.
  if (JSON.stringify(settings) !== JSON.stringify(AS_SET)) return `it began with ${JSON.stringify(settings)}`;
  const isSaid = kind.leftOut?.test(said) ?? false;
  const isTorn = kind.endMayLack !== undefined && ENDS.has(damage);
  return isSaid || isTorn || kind.mayBeSilent !== undefined ? null : "it began and said nothing of it";
}

/** Kind after kind, each time with another damage; the short form comes to every kind once, with luck further. */
function* cases(): Generator<Case> {
  for (let draw = 0; ; draw++)
    for (let turn = 0; turn < NAMES.length; turn++)
      for (const [at, kind] of FILE_KINDS.entries())
        yield { kind, damage: NAMES[(SEED + draw + turn + at) % NAMES.length] as string, draw };
}

test(`damage to any of them is said or refused, ${SECONDS} s long, seed ${SEED}`, {
  timeout: 1_000 * (SECONDS + 600),
}, async () => {
  const wrong: string[] = [];
  const began = performance.now();
  let tried = 0;
  for (const one of cases()) {
    if (tried >= FILE_KINDS.length && performance.now() - began > 1_000 * SECONDS) break;
    const found = await attempt(one);
    if (found !== null) wrong.push(found);
    tried += 1;
  }
  console.log(`${tried} damaged files, ${wrong.length} taken badly`);
  expect(wrong.join("\n\n")).toBe("");
});
