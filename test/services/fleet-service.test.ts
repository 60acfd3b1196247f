import { writeFileSync } from "node:fs";
import { join as at } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  connectNats,
  type FleetClient,
  type FleetRecords,
  type FleetService,
  fleetClient,
  type NatsLink,
  openBucket,
  openFleetRecords,
  serveFleet,
} from "../../src/adapters/nats/index.ts";
import { systemClock } from "../../src/adapters/runtime/index.ts";
import { milliseconds, parseWorkloadId, seconds, seededRng, unwrap, type WorkloadId } from "../../src/base/index.ts";
import { coordinatorSchema } from "../../src/cli/fleet/fleet-schema.ts";
import { simulatedPool } from "../../src/cli/fleet/simulated-pool.ts";
import {
  coordinatorOf,
  createCoordinator,
  type JoinAnswer,
  type MemberReport,
  variants,
} from "../../src/control/agents/index.ts";
import { sharedFeatures } from "../../src/control/tasks/functions/index.ts";
import { temporaryFolder } from "../fixtures/folders/temporary-folder.ts";
import { type NatsServer, startNats } from "./nats-server.ts";

const SOON = seconds(5);
const [one, two, three] = ["function-1", "function-2", "function-3"].map((name) => unwrap(parseWorkloadId(name))) as [
  WorkloadId,
  WorkloadId,
  WorkloadId,
];

let server: NatsServer;
beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server?.stop());

/** A pool of three functions: a step is closed when all have spoken. On a busy machine that takes a while, so patience is long. */
const settings = coordinatorSchema.parse({
  data: "nowhere",
  pools: [
    {
      name: "three",
      everySeconds: 0,
      patienceSeconds: 10,
      expirySeconds: 30,
      platform: { kind: "simulated", functions: 3 },
    },
  ],
}).pools[0] as Parameters<typeof simulatedPool>[0];

let link: NatsLink;
let client: FleetClient;
let service: FleetService;
let records: FleetRecords;
beforeEach(async () => {
  link = unwrap(await connectNats({ servers: [server.url], name: "a test" }));
  client = fleetClient(link, "three");
  const { signal } = new AbortController();
  records = unwrap(
    await openFleetRecords(link, { pool: "three", expiry: seconds(5), lastLife: 0, signal, onWait: () => undefined }),
  );
  const clock = systemClock;
  const fleet = simulatedPool(settings, { life: 1, now: clock.monotonic() });
  const on = { trouble: () => undefined };
  service = serveFleet({ link, pool: "three", fleet, records, expiry: seconds(5), clock, on });
});
afterEach(async () => {
  await service.close();
  await link.close();
});

const join = async (...agents: readonly WorkloadId[]): Promise<JoinAnswer> =>
  unwrap(await client.join({ name: "a test", agents }, SOON));

const reportOf = ({ members }: JoinAnswer, agent: WorkloadId, parts: Partial<MemberReport> = {}): MemberReport => ({
  agent,
  incarnation: members.find((member) => member.agent === agent)?.incarnation ?? -1,
  values: sharedFeatures.map((_, i) => i / 10),
  reward: 0.5,
  choice: 0,
  kept: 0,
  ...parts,
});

const codeOf = (result: { readonly ok: boolean; readonly failure?: { readonly code: string } }): string =>
  result.failure?.code ?? "ok";

describe("a fleet over NATS", () => {
  test("global states are bit for bit those of a coordinator in the same process", async () => {
    const rng = seededRng(5);
    const joined = await join(one, two, three);
    const local = createCoordinator(
      coordinatorOf(variants.simppo, { groups: ["all"], expiry: milliseconds(Number.MAX_VALUE) }),
    );
    const lives = new Map(
      [one, two, three].map((agent) => [agent, unwrap(local.join(agent, { now: milliseconds(0) })).incarnation]),
    );
    let { step } = joined;
    for (let i = 0; i < 20; i++) {
      const reports = [one, two, three].map((agent) =>
        reportOf(joined, agent, { values: sharedFeatures.map(() => rng.next() * 3 - 1), reward: rng.next() }),
      );
      const answer = unwrap(await client.step(joined.session, { step, members: reports }, SOON));
      for (const { agent, values, reward } of reports)
        unwrap(
          local.report(
            { agent, values, reward, incarnation: lives.get(agent) as number, step: local.step },
            milliseconds(0),
          ),
        );
      expect(answer.teamReward).toBe(local.closeStep(milliseconds(0)).teamReward);
      for (const { agent, global } of answer.members) expect(global).toEqual(unwrap(local.globalState(agent)));
      expect(answer.step).toBe(step);
      step = answer.next;
    }
  });

  test("one that reports NaN, chooses what there is not, or speaks for another is refused, its neighbours are not", async () => {
    const [mine, others] = [await join(one, two), await join(three)];
    const [answer, theirs] = await Promise.all([
      client.step(
        mine.session,
        {
          step: mine.step,
          members: [
            reportOf(mine, one, { values: sharedFeatures.map(() => Number.NaN) }),
            reportOf(mine, two),
            reportOf(others, three),
          ],
        },
        SOON,
      ),
      client.step(others.session, { step: others.step, members: [reportOf(others, three, { choice: 99 })] }, SOON),
    ]);
    const said = unwrap(answer).members.map(({ agent, acted, refused }) => [agent, acted, refused?.code]);
    expect(said).toEqual([
      [one, false, "agents.not-finite"],
      [two, true, undefined],
      [three, false, "agents.not-yours"],
    ]);
    expect(unwrap(theirs).members[0]?.refused?.code).toBe("agents.choice");
    const state = unwrap(await client.state(SOON));
    expect(state.members.map(({ agent, actor }) => [agent, actor])).toEqual([
      [one, "ensure"],
      [two, "agent"],
      [three, "ensure"],
    ]);
  });

  test("a step that is sent twice counts once, and a flood is told so, then not answered; others go on", async () => {
    const [mine, others] = [await join(one), await join(two)];
    const first = client.step(mine.session, { step: mine.step, members: [reportOf(mine, one)] }, SOON);
    const again = await Promise.all(
      Array.from({ length: 50 }, () =>
        client.step(mine.session, { step: mine.step, members: [reportOf(mine, one)] }, seconds(1)),
      ),
    );
    const theirs = await client.step(others.session, { step: others.step, members: [reportOf(others, two)] }, SOON);
    expect(unwrap(await first).members[0]).toMatchObject({ agent: one, acted: true });
    expect(unwrap(theirs).members[0]).toMatchObject({ agent: two, acted: true });
    const times = (code: string): number => again.filter((result) => codeOf(result) === code).length;
    expect(times("agents.repeated-step")).toBe(7);
    expect(times("agents.flood")).toBe(24);
    expect(times("nats.timeout")).toBe(19);
  });

  test("what is no request, or is too long, is refused before it is believed", async () => {
    const joined = await join(one);
    const send = async (body: string): Promise<string> => {
      const subject = `coxswain.fleet.three.step.${joined.session}`;
      const { data } = await link.connection.request(subject, body, { timeout: SOON });
      return JSON.parse(new TextDecoder().decode(data)).failure.code;
    };
    expect(await send("{")).toBe("agents.malformed");
    expect(await send(JSON.stringify({ step: joined.step, members: [], more: 1 }))).toBe("agents.malformed");
    expect(await send(`"${"x".repeat(300_000)}"`)).toBe("agents.malformed");
    const taken = await client.step(joined.session, { step: joined.step, members: [reportOf(joined, one)] }, SOON);
    expect(codeOf(taken)).toBe("ok");
  });

  test("strangers are told to join, and functions that the pool does not have are not let in", async () => {
    const joined = await join(one);
    const stranger = await client.step("made-up", { step: joined.step, members: [reportOf(joined, one)] }, SOON);
    expect(codeOf(stranger)).toBe("agents.no-session");
    const odd = await join(unwrap(parseWorkloadId("nobody")));
    expect(odd.members).toEqual([]);
    expect(odd.refused.map(({ code }) => code)).toEqual(["fleet.unknown-agent"]);
  });

  test("one that joins again is another one: its old session is out", async () => {
    const before = await join(one);
    const after = await join(one);
    expect(after.members[0]?.incarnation).toBeGreaterThan(before.members[0]?.incarnation as number);
    const old = await client.step(before.session, { step: before.step, members: [reportOf(before, one)] }, SOON);
    expect(codeOf(old)).toBe("agents.no-session");
  });

  test("one that is behind is told where things stand, and goes on from there", async () => {
    const joined = await join(one);
    const request = { step: joined.step, members: [reportOf(joined, one)] };
    unwrap(await client.step(joined.session, request, SOON));
    const late = unwrap(await client.step(joined.session, request, SOON));
    expect(late.step).toBeNull();
    expect(late.members[0]).toMatchObject({ agent: one, acted: false, refused: { code: "agents.late" } });
    const now = await client.step(joined.session, { step: late.next, members: [reportOf(joined, one)] }, SOON);
    expect(unwrap(now).members[0]).toMatchObject({ acted: true });
  });

  test("a second coordinator of a pool waits, and takes over when the first is gone", async () => {
    const stop = new AbortController();
    let waits = 0;
    const ask = (signal: AbortSignal) =>
      openFleetRecords(link, { pool: "three", expiry: seconds(5), lastLife: 0, signal, onWait: () => (waits += 1) });
    const refused = ask(stop.signal);
    setTimeout(() => stop.abort(), 500);
    expect(codeOf(await refused)).toBe("agents.another-coordinator");
    expect(waits).toBe(1);
    await service.close();
    const next = unwrap(await ask(new AbortController().signal));
    expect(next.life).toBe(records.life + 1);
    await next.release();
  });

  test("a coordinator that the server lets hear nobody ends and says on which subject", async () => {
    const folder = temporaryFolder("nats-users");
    const deny = `permissions: { subscribe: { deny: "coxswain.fleet.deaf.join" } }`;
    writeFileSync(at(folder, "users.conf"), `authorization { users = [{ user: "a", password: "b", ${deny} }] }`);
    const guarded = await startNats({ args: ["-c", at(folder, "users.conf")] });
    const access = { kind: "user", user: "a", password: "b" } as const;
    const deaf = unwrap(await connectNats({ servers: [guarded.url], name: "a test", access }));
    try {
      const { signal } = new AbortController();
      const parts = { pool: "deaf", expiry: seconds(5), lastLife: 0, signal, onWait: () => undefined };
      const clock = systemClock;
      const served = serveFleet({
        link: deaf,
        pool: "deaf",
        fleet: simulatedPool(settings, { life: 1, now: clock.monotonic() }),
        records: unwrap(await openFleetRecords(deaf, parts)),
        expiry: seconds(5),
        clock,
        on: { trouble: () => undefined },
      });
      const { code, message } = await served.ended;
      expect(code).toBe("nats.forbidden");
      expect(message).toContain("coxswain.fleet.deaf.join");
      await served.close();
    } finally {
      await deaf.close();
      await guarded.stop();
    }
  });

  test("a coordinator that lost its pool ends, and leaves the lease to the one that has it", async () => {
    const parse = (value: unknown) => value as { readonly holder: string };
    const lease = unwrap(await openBucket(link, { name: "coxswain-three-lease", parse }));
    unwrap(await lease.put("holder", { holder: "another" }));
    expect((await service.ended).code).toBe("agents.another-coordinator");
    await service.close();
    expect(unwrap(await lease.get("holder"))?.value).toEqual({ holder: "another" });
    unwrap(await lease.remove("holder"));
  });
});
