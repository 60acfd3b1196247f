/**
 * Whether an application can be run: every problem at once, each as a sentence that says what to do.
 * Owns: the rules. Not here: the types (application.ts).
 */
import type { Result } from "../../../base/index.ts";
import { err, failure, ok } from "../../../base/index.ts";
import { profiles } from "../calibration.ts";
import { type Call, edgesOf, type MicroserviceApplication, type ServiceSpec } from "./application.ts";

export function parseApplication(application: MicroserviceApplication): Result<MicroserviceApplication> {
  const problems = [...serviceProblems(application), ...requestProblems(application)];
  if (problems.length === 0) problems.push(...shapeProblems(application));
  if (problems.length === 0) return ok(application);
  return err(
    failure("microservices.application", `the application ${application.name} cannot be run: ${problems.join("; ")}`),
  );
}

function* serviceProblems({ services }: MicroserviceApplication): Generator<string> {
  if (services.length === 0) yield "it has no services: give at least one";
  const names = new Set<string>();
  for (const service of services) {
    if (names.has(service.name)) yield `two services are called ${service.name}: rename one`;
    names.add(service.name);
    yield* problemsOfService(service);
  }
}

function* problemsOfService({ name, profile, work, threads, hitRatio }: ServiceSpec): Generator<string> {
  if (!Object.hasOwn(profiles, profile))
    yield `service ${name} has the unknown profile '${profile}': there are ${Object.keys(profiles).join(", ")}`;
  if (!(work > 0 && Number.isFinite(work))) yield `service ${name} works ${work} ms per call: give more than 0`;
  if (!(Number.isInteger(threads) && threads >= 1))
    yield `service ${name} has ${threads} threads: give a whole number from 1`;
  if (hitRatio !== undefined && !(hitRatio >= 0 && hitRatio <= 1))
    yield `service ${name} finds a share of ${hitRatio}: give a hit ratio from 0 to 1`;
}

function* requestProblems({ services, requests }: MicroserviceApplication): Generator<string> {
  if (requests.length === 0) yield "it has no request types: nothing would ever come";
  const byName = new Map(services.map((service) => [service.name, service]));
  const names = new Set<string>();
  for (const { name, weight, root } of requests) {
    if (names.has(name)) yield `two request types are called ${name}: rename one`;
    names.add(name);
    if (!(weight > 0 && Number.isFinite(weight))) yield `request ${name} has the weight ${weight}: give more than 0`;
    yield* problemsOfCall(root, { request: name, byName });
  }
}

interface CallContext {
  readonly request: string;
  readonly byName: ReadonlyMap<string, ServiceSpec>;
}

function* problemsOfCall(call: Call, { request, byName }: CallContext): Generator<string> {
  const where = `request ${request}`;
  if (!byName.has(call.service)) yield `${where} calls ${call.service}, which is not among the services: add it`;
  if (!(call.size > 0 && Number.isFinite(call.size)))
    yield `${where} calls ${call.service} with the size ${call.size}: give more than 0`;
  const looked = new Set<string>();
  for (const stage of [call.background, ...call.stages]) {
    if (stage.length === 0 && stage !== call.background)
      yield `${where} has an empty stage in ${call.service}: remove it`;
    for (const { service, onMissOf } of stage) {
      if (onMissOf === undefined) continue;
      if (!looked.has(onMissOf))
        yield `${where} calls ${service} on a miss of ${onMissOf}, which ${call.service} has not asked in an earlier stage`;
      if (byName.get(onMissOf)?.hitRatio === undefined)
        yield `${where} waits for a miss of ${onMissOf}, which has no hit ratio: give it one`;
    }
    for (const { service } of stage) looked.add(service);
  }
  for (const child of [...call.background, ...call.stages.flat()]) yield* problemsOfCall(child, { request, byName });
}

/** What only shows once every name is known. */
function* shapeProblems(application: MicroserviceApplication): Generator<string> {
  const reached = new Set(application.requests.map(({ root }) => root.service));
  for (const [, to] of edgesOf(application)) reached.add(to);
  for (const { name } of application.services)
    if (!reached.has(name)) yield `no request reaches service ${name}: call it, or leave it out`;
  const cycle = cycleIn(application);
  // Two pools that wait for each other's threads can lock each other up for good, and no timeout of a client frees them.
  if (cycle !== undefined) yield `its services wait for each other in a circle (${cycle.join(" → ")}): break it`;
}

/** Callees before callers; undefined where calls go in a circle. */
export function bottomUp(application: MicroserviceApplication): readonly string[] | undefined {
  return walk(application).order;
}

function cycleIn(application: MicroserviceApplication): readonly string[] | undefined {
  return walk(application).cycle;
}

function walk(application: MicroserviceApplication): {
  readonly order?: readonly string[];
  readonly cycle?: readonly string[];
} {
  const callees = new Map<string, string[]>();
  for (const [from, to] of edgesOf(application)) callees.set(from, [...(callees.get(from) ?? []), to]);
  const order: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (name: string): readonly string[] | undefined => {
    if (done.has(name)) return undefined;
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    path.push(name);
    for (const to of callees.get(name) ?? []) {
      const cycle = visit(to);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(name);
    order.push(name);
    return undefined;
  };
  for (const { name } of application.services) {
    const cycle = visit(name);
    if (cycle !== undefined) return { cycle };
  }
  return { order };
}
