/**
 * Every setting of the program, its default and its rules. One schema serves the loader, `config schema` and the docs.
 * Units are in the names; an unknown key is an error; rules between keys stand beside the keys.
 */

import { z } from "zod";
import { requestSloMs } from "../../contract/schemas/index.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../log.ts";
import { storeSchema } from "./store-schema.ts";
import { targetsSetting } from "./target-schema.ts";
import { trainSchema } from "./train-schema.ts";

export const configSchema = z.strictObject({
  log: z
    .strictObject({
      level: z.enum(LOG_LEVELS).default("info").describe("least level that is written to standard error"),
      format: z
        .enum(LOG_FORMATS)
        .default("auto")
        .describe("text: readable lines; json: one JSON object a line; auto: text on a terminal, else json"),
    })
    .prefault({}),
  runtime: z
    .strictObject({
      kernels: z
        .enum(["auto", "native", "wasm", "reference"])
        .default("auto")
        .describe("kernel set that computes; auto takes the fastest there is")
        // The short name is the one that every program of the package obeys, benches included.
        .meta({ variable: "COXSWAIN_KERNELS" }),
      workers: z.int().min(0).max(1024).default(0).describe("worker threads; 0 means one per processor core"),
    })
    .prefault({}),
  data: z
    .string()
    .min(1)
    .default(".coxswain")
    .describe("folder for what the program keeps between runs, such as finished jobs of studies"),
  modules: z
    .array(z.string().min(1))
    .default([])
    .describe("files that export environments, learners and worlds of your own, for train, evaluate, env and up"),
  agents: z
    .strictObject({
      sharedModel: z
        .string()
        .default("")
        .describe(
          "folder of a finished `coxswain pretrain`, or `shipped`, whose policy the agents of new workloads begin with; empty for none",
        ),
    })
    .prefault({}),
  otlp: z
    .strictObject({
      host: z
        .string()
        .min(1)
        .default("127.0.0.1")
        .describe("address on which `up` takes spans; any but loopback needs a 'sender' in the token file"),
      httpPort: z.int().min(0).max(65_535).default(4318).describe("port for OTLP over HTTP; 0 takes one that is free"),
      grpcPort: z.int().min(0).max(65_535).default(4317).describe("port for OTLP over gRPC; 0 takes one that is free"),
    })
    .prefault({}),
  world: z
    .string()
    .default("")
    .describe("name of a world that a module brings, for `up` to manage instead of the simulated cluster"),
  twin: z
    .enum(["as-before", "tuned", "typical"])
    .default("as-before")
    .describe(
      "who acts in the twin of `up`: tuned, the workload's HPA and VPA; typical, an HPA at 80 % with requests as written; as-before, whom the data folder began with, or tuned",
    ),
  store: storeSchema.prefault({}),
  targets: targetsSetting,
  requests: z
    .record(z.string().min(1).max(300), z.strictObject({ sloMs: requestSloMs.describe("that its p99 may not pass") }))
    .default({})
    .describe("SLOs of request types by the operation of their root spans, for spans that are sent to `up`"),
  train: trainSchema.prefault({}),
});

export type Config = z.output<typeof configSchema>;
