/**
 * `coxswain coordinator` from start to end: a controller for each pool of its settings.
 * Owns: starting, telling what happens, stopping. Not here: decisions (control/agents), NATS (adapters/nats).
 */
import { join, resolve } from "node:path";
import * as z from "zod";
import { connectNats, fleetClient, type NatsLink, openFleetRecords, serveFleet } from "../../adapters/nats/index.ts";
import { readKept, systemClock, writeKept } from "../../adapters/runtime/index.ts";
import { CodedError, type Failure, seconds, unwrap } from "../../base/index.ts";
import type { HostState } from "../../control/agents/index.ts";
import type { Session } from "../shell.ts";
import { untilStopped } from "../until-stopped.ts";
import { type CoordinatorConfig, natsOptions, type PoolConfig } from "./fleet-schema.ts";
import { simulatedPool } from "./simulated-pool.ts";

/** Steps and incarnations of a coordinator's life begin with its number, so that none is given twice. */
const STEPS_OF_A_LIFE = 1e9;
const INCARNATIONS_OF_A_LIFE = 1e6;

const lifeFile = { format: "coxswain-coordinator", version: 1, schema: z.strictObject({ life: z.int().min(0) }) };

export interface PoolSummary {
  readonly pool: string;
  readonly life: number;
  readonly steps: number;
  readonly state: HostState;
}

export async function runCoordinator(session: Session, config: CoordinatorConfig): Promise<readonly PoolSummary[]> {
  const { log, signal, cwd } = session;
  const link = unwrap(
    await connectNats({
      ...natsOptions(config.nats, { cwd, name: "coxswain coordinator" }),
      waitFor: { signal, onWait: (why) => log.warn({ why }, "waiting for NATS") },
    }),
  );
  link.onState((state) => log.info({ state }, "connection to NATS"));
  const open: OpenPool[] = [];
  try {
    for (const pool of config.pools)
      open.push(await openPool(session, { pool, link, data: resolve(cwd, config.data) }));
    const ended = await Promise.race([untilStopped(session), ...open.map(({ ended: gone }) => gone)]);
    if (ended !== undefined) throw new CodedError(ended);
    return open.map(({ summary }) => summary());
  } finally {
    for (const pool of open) await pool.close();
    await link.close();
  }
}

interface OpenPool {
  readonly ended: Promise<Failure>;
  summary(): PoolSummary;
  close(): Promise<void>;
}

async function openPool(
  { log, signal }: Session,
  { pool, link, data }: { readonly pool: PoolConfig; readonly link: NatsLink; readonly data: string },
): Promise<OpenPool> {
  const { name } = pool;
  const file = join(data, `${name}.life`);
  const expiry = seconds(pool.expirySeconds);
  const known = readKept(file, lifeFile);
  if (!known.ok)
    log.warn({ file, why: known.failure.message }, "how many coordinators there were is read from NATS alone");
  const records = unwrap(
    await openFleetRecords(link, {
      pool: name,
      expiry,
      lastLife: known.ok ? (known.value?.life ?? 0) : 0,
      signal,
      onWait: () => log.info({ pool: name }, "another coordinator has the pool, or had it a moment ago: waiting"),
    }),
  );
  const { life } = records;
  writeKept(file, { life }, lifeFile);
  const clock = systemClock;
  const now = clock.monotonic();
  const host = simulatedPool(pool, { life, now });
  host.restore(records.members, { step: life * STEPS_OF_A_LIFE, lastIncarnation: life * INCARNATIONS_OF_A_LIFE, now });
  log.info({ pool: name, life, members: records.members.length, rules: pool.fallback }, "coordinating");
  let steps = 0;
  const service = serveFleet({
    link,
    pool: name,
    fleet: host,
    records,
    expiry,
    clock,
    on: {
      joined: ({ members, refused }, process) =>
        log.info(
          { pool: name, process, members: members.map(({ agent, incarnation }) => `${agent} ${incarnation}`), refused },
          "joined",
        ),
      left: (agents) => log.info({ pool: name, agents }, "left"),
      closed: ({ step, took }) => {
        steps += 1;
        log.debug({ pool: name, step, took }, "step closed");
      },
      trouble: ({ code, message }) =>
        log.warn({ pool: name, code, why: message }, "could not be done, and is tried again"),
    },
  });
  return {
    ended: service.ended,
    summary: () => ({ pool: name, life, steps, state: host.state() }),
    close: () => service.close(),
  };
}

/** What running coordinators say of their pools. */
export async function askCoordinators(
  session: Session,
  config: CoordinatorConfig,
): Promise<readonly { readonly pool: string; readonly state: HostState }[]> {
  const link = unwrap(
    await connectNats(natsOptions(config.nats, { cwd: session.cwd, name: "coxswain coordinator --status" })),
  );
  try {
    const states: { pool: string; state: HostState }[] = [];
    for (const { name } of config.pools)
      states.push({ pool: name, state: unwrap(await fleetClient(link, name).state(seconds(3))) });
    return states;
  } finally {
    await link.close();
  }
}
