/**
 * What must be known of an OpenWhisk deployment, and the checks before anything is sent to it.
 * Owns: options, their defaults and what is refused. Not here: requests (client.ts).
 */
import type { Clock, Ms, Result } from "../../base/index.ts";
import { err, failure, isLoopbackName, ok, seconds } from "../../base/index.ts";
import { systemClock } from "../runtime/index.ts";

export interface OpenWhiskOptions {
  /** `https://openwhisk.example.org`, of the controller or the gateway in front of it. */
  readonly url: string;
  /** The key of a namespace, `uuid:key`: what `wsk property get --auth` prints. */
  readonly auth: string;
  /** `_`: the one that the key belongs to. */
  readonly namespace?: string;
  /**
   * MiB that each invoker gives to containers (`whisk.container-pool.user-memory`). CPU shares follow from it and cannot be asked
   * for, so it has to be told.
   */
  readonly invokerMemory: number;
  /**
   * Whether the scheduler of OpenWhisk 2.0 is deployed. Only it heeds an action's own limit of containers (`instances`); others
   * store that limit and do nothing with it.
   */
  readonly hasScheduler: boolean;
  /** Of one request, and of a whole call with its pages, repeats and pauses. */
  readonly requestTimeout?: Ms;
  readonly deadline?: Ms;
  /** Longer answers are not read. One record with its logs and result may have 11 MB under OpenWhisk's usual limits. */
  readonly mostBodyBytes?: number;
  /** Records of one page, at most 200, and of one call. */
  readonly pageSize?: number;
  readonly mostRecords?: number;
  /**
   * A record is written when its call ends and found by when it began: so far back records are looked for again. At least the
   * longest time limit of the functions that are managed.
   */
  readonly lookBack?: Ms;
  /** The key is sent with every request: without encryption only to this machine, unless this is set. */
  readonly allowPlainHttp?: boolean;
  readonly clock?: Clock;
}

export type OpenWhiskTarget = Required<Omit<OpenWhiskOptions, "url" | "auth" | "allowPlainHttp">> & {
  readonly origin: string;
  /** Sent as it is; never part of a sentence. */
  readonly authorization: string;
};

/** OpenWhisk refuses to list more (`whisk.query-limit.max-list-limit`). */
const LONGEST_PAGE = 200;

export function openWhiskTarget(options: OpenWhiskOptions): Result<OpenWhiskTarget> {
  const { allowPlainHttp = false, invokerMemory, hasScheduler, namespace = "_" } = options;
  const origin = originOf(options.url, allowPlainHttp);
  if (!origin.ok) return origin;
  const target = {
    requestTimeout: options.requestTimeout ?? seconds(3),
    deadline: options.deadline ?? seconds(10),
    mostBodyBytes: options.mostBodyBytes ?? 16 * 1_048_576,
    pageSize: options.pageSize ?? LONGEST_PAGE,
    mostRecords: options.mostRecords ?? 10_000,
    lookBack: options.lookBack ?? seconds(60),
  };
  for (const [name, value] of Object.entries({ invokerMemory, ...target }))
    if (!(Number.isFinite(value) && value > 0)) return refused(`${name} is ${value}: give more than 0`);
  if (target.pageSize > LONGEST_PAGE) return refused(`pageSize is ${target.pageSize}: give at most ${LONGEST_PAGE}`);
  if (!/^[^:\s]+:\S+$/.test(options.auth))
    return refused("the key has not the form 'uuid:key': give what 'wsk property get --auth' prints");
  if (namespace === "" || namespace.includes("/")) return refused("the namespace is empty or a path: give its name");
  return ok({
    ...target,
    origin: origin.value,
    authorization: `Basic ${Buffer.from(options.auth).toString("base64")}`,
    namespace,
    invokerMemory,
    hasScheduler,
    clock: options.clock ?? systemClock,
  });
}

function originOf(text: string, allowPlainHttp: boolean): Result<string> {
  if (!URL.canParse(text)) return refused("the address is no URL: write it like 'https://openwhisk.example.org'");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return refused("the address holds a key: give it as 'auth' alone");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return refused(`the address begins with '${url.protocol}': give http or https`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return refused(`the address goes on with '${url.pathname}': give only host and port`);
  if (url.protocol === "http:" && !allowPlainHttp && !isLoopbackName(url.hostname))
    return refused(`the key would travel to ${url.host} unencrypted: use https, or set 'allowPlainHttp'`);
  return ok(url.origin);
}

const refused = (what: string) => err(failure("functions.platform.options", `OpenWhisk cannot be used: ${what}`));
