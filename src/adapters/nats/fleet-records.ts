/**
 * What a pool's coordinator keeps in JetStream: who it is, how many there were before it, and its members.
 * Owns: three buckets of a pool and their ages. Not here: what a coordinator does with them (fleet-service.ts).
 *
 * One coordinator for each pool: it holds a lease, written again and again, that ages away with it. Each has a number of its own,
 * one more than any before; steps and incarnations begin with it, so none is ever given twice, whatever was lost in between.
 */
import { randomUUID } from "node:crypto";
import * as z from "zod";
import {
  err,
  failure,
  type Ms,
  milliseconds,
  ok,
  parseWorkloadId,
  type Result,
  type WorkloadId,
} from "../../base/index.ts";
import type { KeptMember } from "../../control/agents/index.ts";
import { type Bucket, openBucket } from "./bucket.ts";
import type { NatsLink } from "./connection.ts";

export interface FleetRecords {
  /** Of this coordinator, from 1. */
  readonly life: number;
  readonly members: readonly KeptMember[];
  keep(members: readonly KeptMember[]): Promise<Result<void>>;
  forget(agents: readonly WorkloadId[]): Promise<Result<void>>;
  /** To be called at least once in `leaseRenewal`; a failure that cannot be retried: another coordinator has the pool. */
  renew(): Promise<Result<void>>;
  release(): Promise<void>;
}

export interface FleetRecordsOptions {
  readonly pool: string;
  /** Of members. */
  readonly expiry: Ms;
  /** The last life that is known from elsewhere, such as a file: where the server lost its own. */
  readonly lastLife: number;
  readonly signal: AbortSignal;
  /** Told while another coordinator has the pool. */
  readonly onWait: () => void;
}

const LEASE = milliseconds(3_000);
export const leaseRenewal = milliseconds(1_000);

const kept = z.strictObject({
  agent: z.string().transform((text, context): WorkloadId => {
    const parsed = parseWorkloadId(text);
    if (parsed.ok) return parsed.value;
    context.addIssue({ code: "custom", message: "no id" });
    return z.NEVER;
  }),
  incarnation: z.int().min(0),
  group: z.string(),
  session: z.string(),
  terms: z.string(),
  values: z.array(z.number()).nullable(),
});
const lifeCount = z.strictObject({ lives: z.int().min(0) });
const holder = z.strictObject({ holder: z.string() });

export async function openFleetRecords(link: NatsLink, options: FleetRecordsOptions): Promise<Result<FleetRecords>> {
  const { pool, expiry } = options;
  const open = <T>(what: string, schema: z.ZodType<T>, maxAge?: Ms): Promise<Result<Bucket<T>>> =>
    openBucket(link, {
      name: `coxswain-${pool}-${what}`,
      parse: (value) => schema.safeParse(value).data,
      ...(maxAge === undefined ? {} : { maxAge }),
    });
  const leases = await open("lease", holder, LEASE);
  if (!leases.ok) return leases;
  const lives = await open("lives", lifeCount);
  if (!lives.ok) return lives;
  const members = await open("members", kept, expiry);
  if (!members.ok) return members;
  const self = randomUUID();
  const held = await takeLease(leases.value, self, options);
  if (!held.ok) return held;
  const life = await nextLife(lives.value, options.lastLife);
  if (!life.ok) return life;
  const found = await members.value.entries();
  if (!found.ok) return found;
  return ok(
    records({
      life: life.value,
      found: found.value.entries.map(({ value }) => value),
      members: members.value,
      lease: { bucket: leases.value, self, revision: held.value, pool },
    }),
  );
}

interface Lease {
  readonly bucket: Bucket<{ readonly holder: string }>;
  readonly self: string;
  readonly pool: string;
  revision: number;
}

function records({
  life,
  found,
  members,
  lease,
}: {
  readonly life: number;
  readonly found: readonly KeptMember[];
  readonly members: Bucket<KeptMember>;
  readonly lease: Lease;
}): FleetRecords {
  const all = async (results: readonly Promise<Result<unknown>>[]): Promise<Result<void>> => {
    for (const result of await Promise.all(results)) if (!result.ok) return result;
    return ok(undefined);
  };
  return {
    life,
    members: found,
    keep: (some) => all(some.map((member) => members.put(member.agent, member))),
    forget: (agents) => all(agents.map((agent) => members.remove(agent))),
    renew: () => renewLease(lease),
    release: () => releaseLease(lease),
  };
}

const KEY = "holder";

async function takeLease(
  bucket: Bucket<{ readonly holder: string }>,
  self: string,
  { signal, onWait, pool }: FleetRecordsOptions,
): Promise<Result<number>> {
  for (let tries = 0; ; tries++) {
    const taken = await bucket.put(KEY, { holder: self }, { revision: 0 });
    if (taken.ok || taken.failure.code !== "nats.conflict") return taken;
    if (tries === 0) onWait();
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (signal.aborted) return err(anotherHas(pool));
  }
}

async function renewLease(lease: Lease): Promise<Result<void>> {
  const { bucket, self, pool } = lease;
  const written = await bucket.put(KEY, { holder: self }, { revision: lease.revision });
  if (written.ok) {
    lease.revision = written.value;
    return ok(undefined);
  }
  if (written.failure.code !== "nats.conflict") return written;
  // Aged away while the server was down, or a write whose answer was lost: ours still, or to be had again.
  const found = await bucket.get(KEY);
  if (!found.ok) return found;
  if (found.value === undefined) {
    const taken = await bucket.put(KEY, { holder: self }, { revision: 0 });
    if (!taken.ok) return taken.failure.code === "nats.conflict" ? err(anotherHas(pool)) : taken;
    lease.revision = taken.value;
    return ok(undefined);
  }
  if (found.value.value.holder !== self) return err(anotherHas(pool));
  lease.revision = found.value.revision;
  return ok(undefined);
}

/** Only its own: one that lost the pool to another must not take the lease from it. */
async function releaseLease({ bucket, self }: Lease): Promise<void> {
  const found = await bucket.get(KEY);
  if (!found.ok || found.value?.value.holder !== self) return;
  // Not told whether that went well: a lease that stays ages away.
  await bucket.remove(KEY, { revision: found.value.revision });
}

const anotherHas = (pool: string) =>
  failure("agents.another-coordinator", `another coordinator has the pool '${pool}'; let one of the two run`);

async function nextLife(bucket: Bucket<{ readonly lives: number }>, least: number): Promise<Result<number>> {
  const found = await bucket.get("lives");
  if (!found.ok) return found;
  const lives = Math.max(least, found.value?.value.lives ?? 0) + 1;
  const written = await bucket.put("lives", { lives }, { revision: found.value?.revision ?? 0 });
  return written.ok ? ok(lives) : written;
}
