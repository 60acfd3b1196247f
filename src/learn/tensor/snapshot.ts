/**
 * A network's parameters as plain data that knows its shapes.
 * Owns: the check, name by name, that a snapshot belongs to a network of this shape.
 * Not here: bytes, checksums and files (learn/rl's checkpoints carry snapshots).
 *
 * `network.snapshot()` and `load()` move bare values and check their number only; these two also know that a
 * 4 → 8 layer is not an 8 → 4 layer.
 */

import type { Result } from "../../base/index.ts";
import { err, failure, failureOf, ok } from "../../base/index.ts";
import type { Parameters } from "./parameters.ts";

export interface ParameterSnapshot {
  /** Name, rows and columns of each parameter, in the order of `values`. */
  readonly shapes: readonly (readonly [name: string, rows: number, cols: number])[];
  readonly values: Float32Array;
}

/** Anything whose parameters can be copied out and in: every network of this module. */
export interface Snapshottable extends Parameters {
  snapshot(): Float32Array;
  load(values: Float32Array): void;
}

export function saveParameters(network: Snapshottable): ParameterSnapshot {
  return {
    shapes: network.parameters.map(({ name, rows, cols }) => [name, rows, cols] as const),
    values: network.snapshot(),
  };
}

/** Puts the parameters back, or says why they are not this network's; the network is then as it was. */
export function loadParameters(network: Snapshottable, snapshot: ParameterSnapshot): Result<void> {
  const wanted = network.parameters;
  for (let i = 0; i < Math.max(wanted.length, snapshot.shapes.length); i++) {
    const ours = text(wanted[i]);
    const [name, rows, cols] = snapshot.shapes[i] ?? [];
    const theirs = text(name === undefined ? undefined : { name, rows, cols });
    if (ours !== theirs) {
      return err(
        failure(
          "tensor.snapshot-shape",
          `parameter ${i} is ${ours} in the network and ${theirs} in the snapshot; build the network with the layers it was saved with`,
        ),
      );
    }
  }
  try {
    network.load(snapshot.values);
    return ok(undefined);
  } catch (thrown) {
    const known = failureOf(thrown);
    if (known) return err(known);
    throw thrown;
  }
}

type Shape = { readonly name: string; readonly rows?: number | undefined; readonly cols?: number | undefined };

function text(shape: Shape | undefined): string {
  return shape ? `${shape.name} [${shape.rows}, ${shape.cols}]` : "absent";
}
