/**
 * The coordinator of a fleet: who is in it, and what each agent sees of all the others: SIMPPO's virtual agent. START READING HERE.
 * Owns: membership with incarnations and expiry, the order of steps. Not here: the arithmetic of global states (global-state.ts),
 * how agents reach it (in process, or adapters/nats), what they do with what it tells (variants.ts).
 *
 * A step is open until it is closed; meanwhile each member reports once. Whoever joins or leaves is in or out of what others
 * see from the next closing on.
 */
import { err, failure, type Ms, ok, type Result, type WorkloadId } from "../../base/index.ts";
import { type GlobalFeature, GlobalState } from "./global-state.ts";
import { type AgentReport, reportProblem } from "./report.ts";

export interface CoordinatorOptions {
  readonly features: readonly GlobalFeature[];
  /** Whether the standard deviation of each feature over the others follows, as the paper's text has it. */
  readonly deviations: boolean;
  /** Virtual agents by percentile in place of sums and means (global-state.ts). */
  readonly percentiles?: readonly number[];
  /** A member that was not heard of for so long is no member. */
  readonly expiry: Ms;
  /** One virtual agent for each of these kinds of members; one for all unless given. */
  readonly groups?: readonly string[];
  readonly maxAgents?: number;
}

export interface Membership {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly group: string;
  /** When it was last heard of. */
  readonly seenAt: Ms;
}

export interface ClosedStep {
  readonly step: number;
  /** Those that count from now on. */
  readonly members: number;
  /** Who reported for this step, and who was dropped for being silent. */
  readonly reported: number;
  readonly expired: readonly WorkloadId[];
  /** Mean reward of those who reported one; null where nobody did. */
  readonly teamReward: number | null;
}

/** Plain data: what a restarted coordinator goes on from. */
export interface CoordinatorSnapshot {
  readonly step: number;
  readonly lastIncarnation: number;
  readonly members: readonly (Membership & { readonly values: readonly number[] | null })[];
}

export interface Coordinator {
  /** The step that is open. */
  readonly step: number;
  /** Numbers in a global state. */
  readonly width: number;
  /** An agent that is in already begins a new life: what its old one still says is refused. */
  join(agent: WorkloadId, options: { readonly now: Ms; readonly group?: string }): Result<Membership>;
  leave(agent: WorkloadId, incarnation: number): Result<void>;
  heartbeat(agent: WorkloadId, incarnation: number, now: Ms): Result<void>;
  report(report: AgentReport, now: Ms): Result<void>;
  closeStep(now: Ms): ClosedStep;
  /** What an agent sees of the others as of the last closing. The array is the caller's. */
  globalState(agent: WorkloadId): Result<Float32Array>;
  members(): readonly Membership[];
  snapshot(): CoordinatorSnapshot;
  restore(snapshot: CoordinatorSnapshot): void;
}

interface Member {
  readonly agent: WorkloadId;
  readonly incarnation: number;
  readonly group: number;
  seenAt: Ms;
  /** As of the last closing; null before its first report was closed. */
  values: Float64Array | null;
  /** Of the open step. */
  pending: { readonly values: Float64Array; readonly reward: number | null } | null;
}

const ONE_GROUP = ["all"] as const;
const MOST_AGENTS = 10_000;

export function createCoordinator(options: CoordinatorOptions): Coordinator {
  const { features, deviations, percentiles, expiry, groups = ONE_GROUP, maxAgents = MOST_AGENTS } = options;
  const state = new GlobalState({
    features,
    deviations,
    groups: groups.length,
    ...(percentiles === undefined ? {} : { percentiles }),
  });
  const members = new Map<WorkloadId, Member>();
  let step = 0;
  let lastIncarnation = 0;

  const known = (agent: WorkloadId, incarnation: number): Result<Member> => {
    const member = members.get(agent);
    if (member === undefined)
      return err(failure("agents.unknown", `${agent} is not in the fleet: it never joined, left, or was silent; join`));
    if (member.incarnation !== incarnation)
      return err(
        failure(
          "agents.stale-incarnation",
          `${agent} speaks as incarnation ${incarnation} and is ${member.incarnation} by now; stop this one or join anew`,
        ),
      );
    return ok(member);
  };

  const membershipOf = ({ agent, incarnation, group, seenAt }: Member): Membership => ({
    agent,
    incarnation,
    group: groups[group] as string,
    seenAt,
  });

  return {
    get step() {
      return step;
    },
    width: state.width,
    join(agent, { now, group = groups[0] as string }) {
      if (!members.has(agent) && members.size >= maxAgents)
        return err(
          failure("agents.too-many", `the fleet has its ${maxAgents} agents; let one leave or use another pool`),
        );
      const place = groups.indexOf(group);
      if (place < 0)
        return err(failure("agents.unknown-group", `${agent} joined as '${group}', not one of ${groups.join(", ")}`));
      lastIncarnation += 1;
      const member = { agent, incarnation: lastIncarnation, group: place, seenAt: now, values: null, pending: null };
      members.set(agent, member);
      return ok(membershipOf(member));
    },
    leave(agent, incarnation) {
      const member = known(agent, incarnation);
      if (!member.ok) return member;
      members.delete(agent);
      return ok(undefined);
    },
    heartbeat(agent, incarnation, now) {
      const member = known(agent, incarnation);
      if (!member.ok) return member;
      member.value.seenAt = now;
      return ok(undefined);
    },
    report(report, now) {
      const found = known(report.agent, report.incarnation);
      if (!found.ok) return found;
      const member = found.value;
      const problem = reportProblem(report, features.length);
      if (problem !== undefined) return err(problem);
      if (report.step > step)
        return err(
          failure("agents.ahead", `${report.agent} reported step ${report.step} and ${step} is open; wait for it`),
        );
      if (report.step < step)
        return err(
          failure("agents.late", `${report.agent} reported step ${report.step} and ${step} is open; go on from it`),
        );
      if (member.pending !== null)
        return err(
          failure("agents.repeated-step", `${report.agent} reported step ${step} twice; the first one counts`),
        );
      member.seenAt = now;
      member.pending = { values: Float64Array.from(report.values), reward: report.reward };
      return ok(undefined);
    },
    closeStep(now) {
      const expired: WorkloadId[] = [];
      let reported = 0;
      let rewarded = 0;
      let rewards = 0;
      for (const member of members.values()) {
        if (now - member.seenAt > expiry) {
          expired.push(member.agent);
          members.delete(member.agent);
          continue;
        }
        // Whoever is silent for a step counts as it was: it still holds what it holds.
        if (member.pending === null) continue;
        reported += 1;
        if (member.pending.reward !== null) {
          rewarded += 1;
          rewards += member.pending.reward;
        }
        member.values = member.pending.values;
        member.pending = null;
      }
      state.addUp(members.values());
      const closed = step;
      step += 1;
      const teamReward = rewarded > 0 ? rewards / rewarded : null;
      return { step: closed, members: members.size, reported, expired, teamReward };
    },
    globalState(agent) {
      const own = members.get(agent);
      if (own === undefined)
        return err(failure("agents.unknown", `${agent} is not in the fleet and sees nothing of it; join`));
      return ok(state.withoutOne(own));
    },
    members: () => [...members.values()].map(membershipOf),
    snapshot: () => ({
      step,
      lastIncarnation,
      members: [...members.values()].map((member) => ({
        ...membershipOf(member),
        values: member.values === null ? null : [...member.values],
      })),
    }),
    restore(snapshot) {
      step = snapshot.step;
      lastIncarnation = snapshot.lastIncarnation;
      members.clear();
      for (const { agent, incarnation, group, seenAt, values } of snapshot.members)
        members.set(agent, {
          agent,
          incarnation,
          group: Math.max(0, groups.indexOf(group)),
          seenAt,
          values: values === null ? null : Float64Array.from(values),
          pending: null,
        });
      state.addUp(members.values());
    },
  };
}
