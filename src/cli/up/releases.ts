/**
 * The software releases of the demonstration: what real clusters have and no rule's setting knows of beforehand.
 * Owns: when a release comes, what it changes, and how that is said. Not here: what the scenarios do (sim), the faults that
 * come on top (faults.ts).
 *
 * The changes are the AWARE paper's scenarios (section 2.3) at their printed sizes, those that the studies' series of
 * updates is made of, and a release is in force about as long as an update is there. Both worlds get it at the same moment.
 * All of it follows from the world's time, so nothing of it has to be saved.
 */
import type { Ms } from "../../base/index.ts";
import { minutes } from "../../base/index.ts";
import type { ReleaseDocument } from "../../contract/index.ts";
import type { Application, Load } from "../../sim/index.ts";
import { applyScenario, meanWork, scenariosFor } from "../../sim/index.ts";

/** One change of the software, as a whole version of it. */
export interface Change {
  /** What is different, for people: "images of 40 × 40 become 160 × 160". */
  readonly what: string;
  /** What it needs now, against before: "1.8 times the CPU per request". */
  readonly needs: string;
  readonly application: Application;
}

/** Changes that are released in turn, and taken back by the release after. */
export interface ReleasePlan {
  /** After the world's beginning. */
  readonly first: Ms;
  readonly changes: readonly Change[];
}

/** As long as an update lasts in the studies: 20 episodes of 100 steps of 15 seconds. */
export const RELEASE_LASTS: Ms = minutes(8 * 60);
/** Of what runs when the world begins. */
const MAJOR = 2;
const MINOR = 3;

/** All the scenarios that change this software, each from how it is now. */
export function changesOf(workload: { readonly application: Application; readonly load: Load }): readonly Change[] {
  const { application } = workload;
  return scenariosFor(application).flatMap((scenario) => {
    const next = applyScenario(workload, scenario).application;
    // One of them changes the load alone.
    return next === undefined ? [] : [{ what: scenario.what, needs: needsOf(application, next), application: next }];
  });
}

/** Less than a tenth more is not worth a word. */
const WORTH_SAYING = 1.1;

function needsOf(before: Application, after: Application): string {
  const more = [
    { of: "CPU per request", times: meanWork(after).cpu / meanWork(before).cpu },
    { of: "memory", times: memoryOf(after) / memoryOf(before) },
  ].filter(({ times }) => times >= WORTH_SAYING);
  return more.map(({ of, times }) => `${Number(times.toFixed(1))} times the ${of}`).join(" and ");
}

/** Of a pod with all its threads at work. */
const memoryOf = ({ memory: { base, cache, perRequest }, threads }: Application): number =>
  base + cache + perRequest * threads;

interface Running {
  /** Releases since the world began. */
  readonly count: number;
  /** null: as it was when the world began, or taken back. */
  readonly change: Change | null;
  /** Since the world's beginning. */
  readonly since: number;
}

/** What runs so long after the world's beginning. */
export function runningAfter({ first, changes }: ReleasePlan, elapsed: number): Running {
  if (elapsed < first || changes.length === 0) return { count: 0, change: null, since: 0 };
  const before = Math.floor((elapsed - first) / RELEASE_LASTS);
  const change = before % 2 === 0 ? (changes[(before / 2) % changes.length] ?? null) : null;
  return { count: before + 1, change, since: first + before * RELEASE_LASTS };
}

const versionOf = (count: number): string => `${MAJOR}.${MINOR + count}`;

/** A workload, as far as releases are concerned. */
export interface Released {
  readonly id: string;
  /** What runs when the world begins. */
  readonly application: Application;
  readonly releases: ReleasePlan;
}

/** Which release each workload runs, as the world's time passes. */
export class Releases {
  readonly #startedAt: number;
  readonly #running = new Map<string, Running>();

  constructor(workloads: readonly Released[], { startedAt, now }: { startedAt: number; now: number }) {
    this.#startedAt = startedAt;
    for (const { id, releases } of workloads) this.#running.set(id, runningAfter(releases, now - startedAt));
  }

  /** Answers with those that got another release. */
  moveTo<W extends Released>(now: number, workloads: readonly W[]): readonly W[] {
    return workloads.filter(({ id, releases }) => {
      const next = runningAfter(releases, now - this.#startedAt);
      const isNew = next.count !== this.#running.get(id)?.count;
      if (isNew) this.#running.set(id, next);
      return isNew;
    });
  }

  softwareOf({ id, application }: Pick<Released, "id" | "application">): Application {
    return this.#running.get(id)?.change?.application ?? application;
  }

  documentOf(workload: string): ReleaseDocument {
    const { count, change, since } = this.#running.get(workload) ?? { count: 0, change: null, since: 0 };
    return { version: versionOf(count), since: this.#startedAt + since, needs: change?.needs ?? null };
  }

  /** What is announced when it comes. */
  announcement(workload: string): string {
    const { count, change } = this.#running.get(workload) ?? { count: 0, change: null };
    const release = `release ${versionOf(count)}`;
    if (change === null)
      return `${release} takes ${versionOf(count - 1)}'s change back: it needs what ${versionOf(0)} did`;
    return `${release}: ${change.what}; it needs ${change.needs}`;
  }

  /** Why it may be in trouble; null where nothing changed. */
  cause(workload: string): string | null {
    const { version, needs } = this.documentOf(workload);
    return needs === null ? null : `release ${version} needs ${needs}`;
  }
}
