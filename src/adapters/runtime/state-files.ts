/**
 * Agents' saved state as files: one folder per agent with the newest state and the one before it.
 * Owns: whole files (written beside, forced to disk, renamed), and that a damaged file never pushes out a good one.
 * Not here: the envelope with the checksum (kept-file.ts), what the bytes mean (the agent's), when to save (control/loop).
 *
 * All of it is asynchronous: an fsync takes milliseconds, and the loop's other agents have turns meanwhile.
 */

import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AgentId, Failure, Result } from "../../base/index.ts";
import { err, failure, ok } from "../../base/index.ts";
import type { SavedStates, StateStore } from "../../control/loop/index.ts";
import { fromEnvelope, inEnvelope, type KeptFormat } from "./kept-file.ts";
import { makeFolder } from "./make-folder.ts";

const AGENT_STATE: KeptFormat = { format: "coxswain-agent-state", version: 2 };

export function stateFiles({ folder }: { readonly folder: string }): StateStore {
  const places = (agent: AgentId) => ({
    home: join(folder, agent),
    newest: join(folder, agent, "newest"),
    previous: join(folder, agent, "previous"),
  });
  /** Agents whose newest file was read whole or written by us: it need not be read again before it becomes the previous one. */
  const known = new Set<AgentId>();

  return {
    write: async (agent, state, signal) => {
      const { home, newest, previous } = places(agent);
      const beside = join(home, `${randomBytes(6).toString("hex")}.tmp`);
      try {
        makeFolder(home);
        await writeWhole(beside, inEnvelope(state, AGENT_STATE));
        signal.throwIfAborted();
        if (known.has(agent) || (await readWhole(newest)).ok) await rename(newest, previous);
        await rename(beside, newest);
        known.add(agent);
        await syncFolder(home);
        return ok(undefined);
      } catch (cause) {
        known.delete(agent);
        await rm(beside, { force: true }).catch(() => undefined);
        return err(fileFailure("state.unwritable", home, cause));
      }
    },

    read: async (agent) => {
      const { newest, previous } = places(agent);
      const states: Uint8Array[] = [];
      const damaged: Failure[] = [];
      for (const file of [newest, previous]) {
        const found = await readWhole(file);
        if (found.ok) {
          states.push(found.value);
          if (file === newest) known.add(agent);
        } else if (found.failure.code === "state.corrupt") damaged.push(found.failure);
        else if (found.failure.code !== "state.absent") return found;
      }
      return ok({ states, damaged } satisfies SavedStates);
    },

    setAside: async (agent) => {
      const { home } = places(agent);
      known.delete(agent);
      try {
        // '~' is in no agent's id, so this is nobody's folder.
        await rename(home, `${home}~refused-${randomBytes(4).toString("hex")}`);
        return ok(undefined);
      } catch (cause) {
        return err(fileFailure("state.unwritable", home, cause));
      }
    },
  };
}

async function readWhole(file: string): Promise<Result<Uint8Array>> {
  let content: Uint8Array;
  try {
    content = await readFile(file);
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    return err(fileFailure(isAbsent ? "state.absent" : "state.unreadable", file, cause));
  }
  const state = fromEnvelope(content, AGENT_STATE);
  if (state.ok) return state;
  const text = `the saved state ${file} cannot be used (${state.failure.message})`;
  return err(failure("state.corrupt", text));
}

function fileFailure<C extends string>(code: C, file: string, cause: unknown): Failure<C> {
  const words = cause instanceof Error ? cause.message : String(cause);
  return failure(
    code,
    `the saved state at ${file} cannot be used: ${words}; check the folder's owner, mode and space`,
    {
      retry: true,
      cause,
    },
  );
}

async function writeWhole(file: string, content: Uint8Array): Promise<void> {
  const handle = await open(file, "w");
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A name is part of its folder: without this a power cut may bring the old file back. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
