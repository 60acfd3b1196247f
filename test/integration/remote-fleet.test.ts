import { describe, expect, test } from "vitest";
import { tryKernels } from "../../src/adapters/runtime/index.ts";
import { milliseconds, parseWorkloadId, seededRng, unwrap, type WorkloadId } from "../../src/base/index.ts";
import { coordinatorSchema } from "../../src/cli/fleet/fleet-schema.ts";
import { poolBounds, simulatedPool } from "../../src/cli/fleet/simulated-pool.ts";
import {
  type FleetTransition,
  type JoinAnswer,
  type MemberPast,
  RemoteMember,
  RemoteParty,
  type StepAnswer,
  variants,
} from "../../src/control/agents/index.ts";
import { functionSpace, functionsLearner } from "../../src/control/tasks/functions/index.ts";
import { createLearner } from "../../src/learn/rl/index.ts";

const kernels = unwrap(tryKernels("wasm"));
const names = [1, 2, 3].map((i) => unwrap(parseWorkloadId(`function-${i}`)));
const [first] = names as [WorkloadId];

/** A pool of three functions and one process for all of its agents, without a network in between. */
function scene() {
  const settings = coordinatorSchema.parse({
    data: "nowhere",
    pools: [{ name: "three", everySeconds: 0, patienceSeconds: 1, platform: { kind: "simulated", functions: 3 } }],
  }).pools[0] as Parameters<typeof simulatedPool>[0];
  let now = 0;
  const host = simulatedPool(settings, { life: 1, now: milliseconds(now) });
  const disk: FleetTransition[] = [];
  const checkpoints = new Map<WorkloadId, Omit<MemberPast, "transitions">>();
  let joins = 0;

  const join = (): { readonly answer: JoinAnswer; readonly party: RemoteParty } => {
    joins += 1;
    const answer = host.join(
      { name: "a test", agents: names },
      { session: `session ${joins}`, now: milliseconds(now) },
    );
    const members = answer.members.map((seat) => {
      const { algorithm, action, choiceOf } = functionsLearner("ppo", { badChoices: "masked", minibatch: 5 });
      const saved = checkpoints.get(seat.agent);
      const shape = { obs: functionSpace({ hasMask: true }).size, action, actorContext: 0, criticContext: 6 };
      const member = new RemoteMember({
        agent: seat.agent,
        incarnation: seat.incarnation,
        variant: variants.simppo,
        pool: answer.pool,
        bounds: poolBounds,
        learner: createLearner(algorithm, { kernels, shape, seed: seededRng(1).fork(seat.agent).uint32() }),
        choiceOf,
        rng: seededRng(2).fork(`${seat.agent} ${seat.incarnation}`),
        learning: true,
        past: saved && { ...saved, transitions: disk.filter(({ agent }) => agent === seat.agent) },
        sight: seat,
      });
      unwrap(member.resume());
      checkpoints.set(member.agent, { checkpoint: member.checkpoint, updates: member.updates });
      return member;
    });
    return { answer, party: new RemoteParty(members, answer.step) };
  };
  const take = (party: RemoteParty, answer: StepAnswer) => {
    const taken = party.take(answer);
    disk.push(...taken.transitions);
    const { updated, failed } = party.learn(taken.transitions);
    for (const member of updated)
      checkpoints.set(member.agent, { checkpoint: member.checkpoint, updates: member.updates });
    expect(failed).toEqual([]);
    return { ...taken, updated };
  };
  const step = (party: RemoteParty, session: string) => {
    now += 10;
    expect(unwrap(host.ask(session, party.request(), milliseconds(now)))).toBeUndefined();
    expect(host.due(milliseconds(now)).isDue).toBe(true);
    const answer = host.close(milliseconds(now)).answers.get(session);
    if (answer === undefined) throw new Error("no answer");
    return take(party, answer);
  };
  const wait = (time: number) => {
    now += time;
    return milliseconds(now);
  };
  return { host, disk, checkpoints, join, step, take, wait };
}

describe("agents of another process", () => {
  test("a transition is complete a step later, with what the team earned and others were by then", () => {
    const { join, step, disk } = scene();
    const { party, answer } = join();
    expect(step(party, answer.session).transitions).toEqual([]);
    expect(step(party, answer.session).transitions.length).toBe(3);
    for (let i = 0; i < 10; i++) step(party, answer.session);
    const own = disk.filter(({ agent }) => agent === first);
    expect(own.map((one) => one.step)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const [i, one] of own.slice(1).entries()) {
      expect(one.obs).toEqual(own[i]?.nextObs);
      expect(one.context).toEqual(own[i]?.nextContext);
    }
    // All are paid the same.
    for (let i = 0; i <= 10; i++)
      expect(new Set(disk.filter((one) => one.step === i).map(({ reward }) => reward)).size).toBe(1);
  });

  test("policies learn after fifty transitions, and one that was killed goes on as if it had not been", () => {
    const [whole, broken] = [scene(), scene()];
    const uninterrupted = whole.join();
    const killed = broken.join();
    for (let i = 0; i < 30; i++) {
      whole.step(uninterrupted.party, uninterrupted.answer.session);
      broken.step(killed.party, killed.answer.session);
    }
    // The process is gone; what is on disk is the same for both.
    expect(broken.disk).toEqual(whole.disk);
    const again = broken.join();
    expect(again.answer.members[0]?.incarnation).toBeGreaterThan(killed.answer.members[0]?.incarnation as number);
    let steps = 0;
    while (broken.checkpoints.get(first)?.updates === 0 && steps < 100) {
      broken.step(again.party, again.answer.session);
      steps += 1;
    }
    // 29 transitions of the first life are learned from again: the next 21 complete the fifty, the first of them a step late.
    expect(steps).toBe(22);
  });

  test("one that was killed between an update and its checkpoint makes the update again", () => {
    const { join, step, checkpoints } = scene();
    const { party, answer } = join();
    const first50 = new Map(checkpoints);
    for (let i = 0; i < 51; i++) step(party, answer.session);
    const updated = checkpoints.get(first);
    expect(updated?.updates).toBe(1);
    // The files were not written any more.
    for (const [agent, checkpoint] of first50) checkpoints.set(agent, checkpoint);
    join();
    expect(checkpoints.get(first)?.updates).toBe(1);
  });

  test("after a step in which rules acted, nothing is learned across it, and learning goes on", () => {
    const { host, join, step, take, wait, disk } = scene();
    const { party, answer } = join();
    for (let i = 0; i < 5; i++) step(party, answer.session);
    const request = party.request();
    // Too late: the step is closed without them.
    host.close(wait(2_000));
    expect(host.state().members.map(({ actor }) => actor)).toEqual(["ensure", "ensure", "ensure"]);
    const late = unwrap(host.ask(answer.session, request, wait(1)));
    if (late === undefined) throw new Error("late requests are answered at once");
    const told = take(party, late);
    expect(told.refused.map(({ code }) => code)).toEqual(["agents.late", "agents.late", "agents.late"]);
    expect(told.transitions).toEqual([]);
    for (let i = 0; i < 5; i++) step(party, answer.session);
    // Steps 0 to 3 before; 4 was half known; 5 the rules'; then 6 to 9, and 10 is half known.
    expect(disk.filter(({ agent }) => agent === first).map((one) => one.step)).toEqual([0, 1, 2, 3, 6, 7, 8, 9]);
  });

  test("nobody waits twice for one that says nothing, and it is out after its time", () => {
    const { host, join, step, wait } = scene();
    const { party, answer } = join();
    step(party, answer.session);
    const now = wait(0);
    expect(host.due(now)).toMatchObject({ isDue: false, at: now + 1_000 });
    host.close(wait(1_000));
    expect(host.state().members.length).toBe(3);
    host.close(wait(35_001));
    expect(host.state()).toMatchObject({ members: [], unattended: names });
  });
});
