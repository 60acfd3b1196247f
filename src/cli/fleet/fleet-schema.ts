/**
 * The files that `coxswain coordinator` and `coxswain agent` are started with.
 * Owns: their settings, defaults and bounds; names of functions. Not here: what is done with them.
 */
import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import * as z from "zod";
import { isPoolName, type NatsOptions } from "../../adapters/nats/index.ts";
import { CodedError, failure, parseWorkloadId } from "../../base/index.ts";
import { variantNames, variants } from "../../control/agents/index.ts";
import { functionNames } from "../../sim/index.ts";
import { readConfigFile } from "../config/document.ts";
import { invalid } from "../config/load.ts";

const id = z.string().refine((text) => parseWorkloadId(text).ok, "must be 1 to 128 letters, digits, '.', '_' or '-'");
const pool = z.string().refine(isPoolName, "must be 1 to 32 small letters, digits or '-', not beginning with '-'");
const path = z.string().min(1);

const nats = z
  .strictObject({
    servers: z.array(z.string()).min(1).max(16).default(["nats://127.0.0.1:4222"]),
    tokenFile: path.optional(),
    userFile: path.optional(),
    credentialsFile: path.optional(),
    caFile: path.optional(),
    certFile: path.optional(),
    keyFile: path.optional(),
    trustedNetwork: z.boolean().default(false),
  })
  .refine(
    ({ tokenFile, userFile, credentialsFile }) =>
      [tokenFile, userFile, credentialsFile].filter((file) => file !== undefined).length <= 1,
    "may name one of tokenFile, userFile and credentialsFile",
  )
  .prefault({});

const functions = z.union([
  z.int().min(1).max(1_000),
  z
    .array(z.strictObject({ name: id, profile: z.enum(functionNames as readonly [string, ...string[]]) }))
    .min(1)
    .max(1_000),
]);

/** Several processes cannot take turns in a step, and only PPO knows which choices may be made. */
const remoteVariants = variantNames.filter((name) => !("turn" in variants[name]) && !("algorithm" in variants[name]));

const seconds = z.number().min(0).max(3_600);

export const coordinatorSchema = z.strictObject({
  nats,
  data: path,
  pools: z
    .array(
      z
        .strictObject({
          name: pool,
          variant: z.enum(remoteVariants as [(typeof variantNames)[number]]).default("simppo"),
          fallback: z.enum(["ensure", "ensure-util"]).default("ensure"),
          /** Wall time between two steps at least; 0: as soon as all have answered. */
          everySeconds: seconds.default(10),
          /** How long members are waited for beyond it. */
          patienceSeconds: z.number().min(0.01).max(3_600).default(2),
          /** Members that were not heard of for so long are out. */
          expirySeconds: z.number().min(1).max(86_400).default(35),
          platform: z.strictObject({
            kind: z.literal("simulated"),
            functions: functions.default(12),
            cluster: z.enum(["local", "cloud"]).default("local"),
            invokers: z.int().min(1).max(1_000).optional(),
            load: z.number().positive().max(2).default(0.5),
            rung: z.enum(["event", "fluid"]).default("fluid"),
            /** Of the platform's own time, between two decisions. */
            stepSeconds: z.number().positive().max(3_600).default(10),
            seed: z.int().min(0).default(1),
          }),
        })
        .refine(({ everySeconds, patienceSeconds, expirySeconds }) => expirySeconds > everySeconds + patienceSeconds, {
          path: ["expirySeconds"],
          message: "must be more than everySeconds and patienceSeconds together: whoever waits for a step is not gone",
        }),
    )
    .min(1)
    .max(32)
    .refine((pools) => new Set(pools.map(({ name }) => name)).size === pools.length, "must have different names"),
});

export const agentSchema = z.strictObject({
  nats,
  /** Where transitions and checkpoints are kept: one process's own. */
  data: path,
  pool,
  agents: z
    .array(id)
    .min(1)
    .max(1_000)
    .refine((agents) => new Set(agents).size === agents.length, "must be different names"),
  seed: z.int().min(0).default(1),
  /** False: policies act as they are, by their best choice. */
  learning: z.boolean().default(true),
});

export type CoordinatorConfig = z.output<typeof coordinatorSchema>;
export type PoolConfig = CoordinatorConfig["pools"][number];
export type AgentConfig = z.output<typeof agentSchema>;

export function loadFleetFile<S extends z.ZodType>(
  schema: S,
  { file, cwd }: { readonly file: string; readonly cwd: string },
): z.output<S> {
  const document = readConfigFile(file, isAbsolute(file) ? file : join(cwd, file));
  const parsed = schema.safeParse(document.value);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues, {
    schema,
    document,
    originOf: (at) => ({ kind: "file", file: document.file, line: document.lineOf(at) }),
  });
}

/** Secrets are in files of their own, never in settings that are printed. */
export function natsOptions(
  {
    servers,
    tokenFile,
    userFile,
    credentialsFile,
    caFile,
    certFile,
    keyFile,
    trustedNetwork,
  }: CoordinatorConfig["nats"],
  { cwd, name }: { readonly cwd: string; readonly name: string },
): NatsOptions {
  const at = (file: string): string => (isAbsolute(file) ? file : join(cwd, file));
  const text = (file: string): string => secretIn(file, at(file));
  const tls = {
    ...(caFile === undefined ? {} : { caFile: at(caFile) }),
    ...(certFile === undefined ? {} : { certFile: at(certFile) }),
    ...(keyFile === undefined ? {} : { keyFile: at(keyFile) }),
  };
  return {
    servers,
    name,
    allowPlain: trustedNetwork,
    ...(tokenFile === undefined ? {} : { access: { kind: "token" as const, token: text(tokenFile) } }),
    ...(credentialsFile === undefined
      ? {}
      : { access: { kind: "credentials" as const, content: text(credentialsFile) } }),
    ...(userFile === undefined ? {} : { access: userIn(userFile, text(userFile)) }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
  };
}

function userIn(file: string, text: string) {
  const [user, password] = text.split(/\s+/);
  if (user === undefined || password === undefined)
    throw new CodedError(
      failure("nats.secret-file", `${file} must hold a user and a password with a space between them`),
    );
  return { kind: "user" as const, user, password };
}

function secretIn(file: string, path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new CodedError(failure("nats.secret-file", `${file} cannot be read; check the path and its mode`, { cause }));
  }
}
