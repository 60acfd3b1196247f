/**
 * The fleet as a whole, where a world tells of one: who is there, how they did lately and over time, who holds up whom.
 * Owns: joins and leaves, the series, what of hosts is averaged, the document. Not here: measuring (plane.ts), what a host is
 * and who is there (the world's port), what workloads are about: any task's are members.
 *
 * It is kept in memory and begins anew with the process: the series of each workload survive (history.ts), a fleet's do not.
 */
import type { AgentId, Ms, WorkloadId } from "../base/index.ts";
import type {
  Actor,
  FleetChange,
  FleetDocument,
  FleetHost,
  FleetLately,
  FleetLoss,
  FleetMember,
  StageName,
} from "../contract/index.ts";
import { noAccount, utilisationOf } from "../contract/index.ts";
import type { Measured } from "../control/index.ts";
import { USUAL_ATTAINMENT } from "./budget.ts";
import type { HostLook, WorldFleet } from "./world.ts";

/** Of the world's time: what `lately` is over, and what a point of the series stands for. */
const LATELY = 300_000;
const POINT = 60_000;
const POINTS = 240;
/** A loss that nobody would notice. */
const LEAST_LOSS = 0.000_5;

/** What a step says of a member. */
export type FleetStep = Pick<Measured, "preservation" | "reward" | "sums">;

/** A managed workload, as it is now. */
export interface Watched {
  readonly target: { readonly id: WorkloadId; readonly title: string; readonly attainment?: number };
  readonly agent: { readonly id: AgentId; readonly stage: StageName; readonly acting: Actor };
  /** null without a twin. */
  readonly twinSeen: unknown;
}

export interface FleetWatchOptions {
  readonly fleet: WorldFleet;
  readonly workloads: readonly Watched[];
  readonly controlStep: Ms;
  readonly now: Ms;
}

/** One side of a member. */
interface Side {
  lately: FleetStep[];
  /** Since the newest point of the series. */
  point: FleetStep[];
}

interface Member {
  readonly watched: Watched;
  readonly own: Side;
  readonly twin: Side | null;
  isPresent: boolean;
  since: number;
  joins: number;
  preservation: (number | null)[];
  reward: (number | null)[];
  readonly use: Map<string, (number | null)[]>;
}

const newSide = (): Side => ({ lately: [], point: [] });

export class FleetWatch {
  readonly #fleet: WorldFleet;
  readonly #since: number;
  readonly #latelySteps: number;
  readonly #pointSteps: number;
  readonly #latelyMs: number;
  readonly #members: readonly Member[];
  readonly #byId: ReadonlyMap<WorkloadId, Member>;
  readonly #hasTwins: boolean;
  #steps = 0;
  #changes: FleetChange[] = [];
  #at: number[] = [];
  #reward: (number | null)[] = [];
  #twinReward: (number | null)[] = [];
  #present: number[] = [];
  /** One list of hosts for each step, the newest last. */
  #looks: (readonly HostLook[])[] = [];
  #tellsHosts = false;

  constructor({ fleet, workloads, controlStep, now }: FleetWatchOptions) {
    const stepsIn = (ms: number): number => Math.max(1, Math.round(ms / controlStep));
    this.#fleet = fleet;
    this.#since = now;
    this.#latelySteps = stepsIn(LATELY);
    this.#pointSteps = stepsIn(POINT);
    this.#latelyMs = this.#latelySteps * controlStep;
    this.#members = workloads.map((watched) => ({
      watched,
      own: newSide(),
      twin: watched.twinSeen === null ? null : newSide(),
      isPresent: false,
      since: now,
      joins: 0,
      preservation: [],
      reward: [],
      use: new Map(),
    }));
    this.#byId = new Map(this.#members.map((member) => [member.watched.target.id, member]));
    this.#hasTwins = this.#members.some(({ twin }) => twin !== null);
  }

  /** What the step that has just ended was like for one of them. */
  add(workload: WorkloadId, own: FleetStep, twin: FleetStep | null): void {
    const member = this.#byId.get(workload);
    if (member === undefined) return;
    this.#keep(member.own, own);
    if (member.twin !== null && twin !== null) this.#keep(member.twin, twin);
  }

  /** After everybody's step was added: whether there is something new to be told, and who has gone. */
  endStep(at: Ms): { readonly hasNews: boolean; readonly left: readonly string[] } {
    const { present, hosts } = this.#fleet.look();
    const isFirst = this.#steps === 0;
    const changes = this.#members.flatMap((member) => this.#move(member, { isHere: present, at, isFirst }));
    this.#changes.push(...changes);
    this.#tellsHosts = hosts !== null;
    if (hosts !== null) {
      this.#looks.push(hosts);
      if (this.#looks.length > this.#latelySteps) this.#looks.shift();
    }
    this.#steps += 1;
    const isPoint = this.#steps % this.#pointSteps === 0;
    if (isPoint) this.#addPoint(at);
    return {
      hasNews: isPoint || isFirst || changes.length > 0,
      left: changes.flatMap(({ kind, workload }) => (kind === "left" ? [workload] : [])),
    };
  }

  document(at: Ms): FleetDocument {
    return {
      at,
      since: this.#since,
      latelyMs: this.#latelyMs,
      members: this.#members.map(memberDocument),
      changes: [...this.#changes],
      series: {
        at: [...this.#at],
        reward: [...this.#reward],
        twinReward: this.#hasTwins ? [...this.#twinReward] : null,
        present: [...this.#present],
      },
      hosts: this.#tellsHosts ? this.#hosts() : null,
    };
  }

  #keep(side: Side, step: FleetStep): void {
    side.point.push(step);
    side.lately.push(step);
    if (side.lately.length > this.#latelySteps) side.lately.shift();
  }

  #move(member: Member, { isHere, at, isFirst }: Moved): readonly FleetChange[] {
    const { id } = member.watched.target;
    const isPresent = isHere.includes(id);
    if (isPresent === member.isPresent) return [];
    member.isPresent = isPresent;
    member.since = isFirst ? this.#since : at;
    if (isPresent) member.joins += 1;
    if (isFirst) return [];
    // What it did before it was away is not how it does now.
    for (const side of [member.own, member.twin]) if (side !== null) side.lately = [];
    return [{ at, workload: id, kind: isPresent ? "joined" : "left" }];
  }

  #addPoint(at: Ms): void {
    const sides = (side: "own" | "twin") => this.#members.flatMap((member) => member[side]?.point ?? []);
    this.#at.push(at);
    this.#reward.push(latelyOf(sides("own")).reward);
    this.#twinReward.push(latelyOf(sides("twin")).reward);
    this.#present.push(this.#members.filter(({ isPresent }) => isPresent).length);
    const before = this.#at.length - 1;
    for (const member of this.#members) {
      const { preservation, reward, use } = latelyOf(member.own.point);
      member.preservation.push(preservation);
      member.reward.push(reward);
      for (const [name, value] of Object.entries(use)) {
        if (!member.use.has(name)) member.use.set(name, new Array<null>(before).fill(null));
        member.use.get(name)?.push(value);
      }
      for (const side of [member.own, member.twin]) if (side !== null) side.point = [];
    }
    if (this.#at.length > POINTS) this.#forget();
  }

  #forget(): void {
    for (const list of [this.#at, this.#reward, this.#twinReward, this.#present]) list.shift();
    for (const { preservation, reward, use } of this.#members)
      for (const list of [preservation, reward, ...use.values()]) list.shift();
    const oldest = this.#at[0] ?? 0;
    this.#changes = this.#changes.filter(({ at }) => at >= oldest);
  }

  #hosts(): readonly FleetHost[] {
    return (this.#looks.at(-1) ?? []).map((host) => {
      const looks = this.#looks.flatMap((hosts) => hosts.find(({ name }) => name === host.name) ?? []);
      return hostDocument(host, { looks, order: this.#members.map(({ watched }) => watched.target.id) });
    });
  }
}

interface Moved {
  readonly isHere: readonly WorkloadId[];
  readonly at: number;
  readonly isFirst: boolean;
}

function memberDocument({
  watched,
  own,
  twin,
  isPresent,
  since,
  joins,
  preservation,
  reward,
  use,
}: Member): FleetMember {
  const { target, agent } = watched;
  return {
    workload: target.id,
    title: target.title,
    agent: agent.id,
    isPresent,
    since,
    joins,
    attainment: target.attainment ?? USUAL_ATTAINMENT,
    stage: agent.stage,
    acting: agent.acting,
    lately: latelyOf(own.lately),
    twin: twin && latelyOf(twin.lately),
    series: {
      preservation: [...preservation],
      reward: [...reward],
      use: Object.fromEntries([...use].map(([name, values]) => [name, [...values]])),
    },
  };
}

function latelyOf(steps: readonly FleetStep[]): FleetLately {
  const kept = steps.flatMap(({ preservation }) => preservation ?? []);
  const sums = new Map<string, number>();
  for (const step of steps)
    for (const [name, value] of Object.entries(step.sums)) sums.set(name, (sums.get(name) ?? 0) + value);
  const use = utilisationOf({ ...noAccount, sums: Object.fromEntries(sums) });
  return {
    steps: kept.length,
    missed: kept.filter((value) => value < 1).length,
    // What is missed by little is never told as kept.
    preservation: meanOf(kept, Math.floor),
    use: Object.fromEntries(Object.entries(use).map(([name, value]) => [name, value === null ? null : rounded(value)])),
    reward: meanOf(steps.flatMap(({ reward }) => reward ?? [])),
  };
}

interface Known {
  readonly looks: readonly HostLook[];
  readonly order: readonly WorkloadId[];
}

function hostDocument({ name, cores, memory, reserved, tenants }: HostLook, { looks, order }: Known): FleetHost {
  const works = looks.flatMap(({ work }) => work ?? []);
  const tells = works.length > 0;
  const mean = (workload: WorkloadId, what: "wanted" | "used"): number =>
    works.reduce((sum, work) => sum + (work.tenants.find((one) => one.workload === workload)?.[what] ?? 0), 0) /
    works.length;
  const place = ({ workload }: { readonly workload: WorkloadId }): number => order.indexOf(workload);
  return {
    name,
    cores,
    memory,
    reserved,
    tenants: [...tenants]
      .sort((a, b) => place(a) - place(b))
      .map(({ workload, active, spare }) => ({
        workload,
        active,
        spare,
        wanted: tells ? rounded(mean(workload, "wanted")) : null,
        used: tells ? rounded(mean(workload, "used")) : null,
      })),
    losses: tells ? lossesOf(works) : null,
  };
}

type Work = NonNullable<HostLook["work"]>;

/** Shares of a step weigh as much as was at work in it. */
function lossesOf(works: readonly Work[]): readonly FleetLoss[] {
  const busy = new Map<WorkloadId, number>();
  const lost = new Map<string, Omit<FleetLoss, "share"> & { sum: number; readonly workload: WorkloadId }>();
  for (const { tenants, losses } of works) {
    const now = new Map(tenants.map((tenant) => [tenant.workload, tenant.busy]));
    for (const [workload, much] of now) busy.set(workload, (busy.get(workload) ?? 0) + much);
    for (const { workload, by, resource, share } of losses) {
      const key = JSON.stringify([workload, by, resource]);
      const known = lost.get(key) ?? { workload, by, resource, sum: 0 };
      known.sum += share * (now.get(workload) ?? 0);
      lost.set(key, known);
    }
  }
  return [...lost.values()]
    .map(({ sum, ...who }) => ({ ...who, share: rounded(sum / (busy.get(who.workload) ?? 1)) }))
    .filter(({ share }) => share >= LEAST_LOSS)
    .sort((a, b) => b.share - a.share);
}

/** The document is told whole, many times an hour: four decimals are more than anybody reads. */
const rounded = (value: number, round: (value: number) => number = Math.round): number => round(value * 1e4) / 1e4;

const meanOf = (values: readonly number[], round?: (value: number) => number): number | null =>
  values.length === 0 ? null : rounded(values.reduce((sum, value) => sum + value, 0) / values.length, round);
