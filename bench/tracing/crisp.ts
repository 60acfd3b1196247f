/**
 * CRISP as a peer: a checkout that COXSWAIN_BENCH_CRISP names (it is in no package index), run by COXSWAIN_BENCH_PYTHON
 * or python3. Owns: finding it, or the sentence that says why it is absent.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Contender } from "../contender.ts";
import { packageRoot } from "../places.ts";

const run = promisify(execFile);

export interface Crisp {
  readonly contender: Contender | undefined;
  readonly absent: string[];
  /** For each trace, the sum of the span ids on its path; undefined without CRISP. */
  fingerprints(): Promise<Float32Array | undefined>;
}

export async function openCrisp(
  file: string,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<Crisp> {
  const absent = (why: string): Crisp => ({
    contender: undefined,
    absent: [`CRISP: ${why}`],
    fingerprints: () => Promise.resolve(undefined),
  });
  const checkout = process.env.COXSWAIN_BENCH_CRISP;
  if (!checkout)
    return absent("clone uber-research/CRISP and name its folder in COXSWAIN_BENCH_CRISP; it is in no package index");
  if (!existsSync(join(checkout, "crisp", "graph.py"))) return absent(`there is no crisp/graph.py in ${checkout}`);
  const program = process.env.COXSWAIN_BENCH_PYTHON || "python3";
  const script = join(packageRoot(), "bench", "peers", "crisp_peer.py");
  try {
    await run(program, ["-c", "import sys; sys.path.insert(0, sys.argv[1]); import crisp.graph", checkout], { signal });
  } catch (error) {
    signal.throwIfAborted();
    const lines = String((error as { stderr?: string }).stderr ?? error)
      .trim()
      .split("\n");
    return absent(
      `${program} cannot load it (${lines.at(-1)?.slice(0, 160)}); COXSWAIN_BENCH_PYTHON names another Python`,
    );
  }
  const contender = new Contender("CRISP", { program, args: [script, checkout, file] });
  const answerFile = join(folder, "crisp.f32");
  return { contender, absent: [], fingerprints: () => contender.check("paths", { steps: 1, answerFile }) };
}
