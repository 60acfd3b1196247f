/**
 * Every setting of the program, its default and its rules. One schema serves the loader, `config schema` and the docs.
 * Units are in the names; an unknown key is an error; rules between keys stand beside the keys.
 */

import { z } from "zod";
import { LOG_LEVELS } from "../log.ts";
import { trainSchema } from "./train-schema.ts";

export const configSchema = z.strictObject({
  log: z
    .strictObject({
      level: z.enum(LOG_LEVELS).default("info").describe("least level that is written to standard error"),
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
  agents: z
    .strictObject({
      sharedModel: z
        .string()
        .default("")
        .describe(
          "folder of a finished `coxswain pretrain`, whose policy the agents of new workloads begin with; empty for none",
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
  train: trainSchema.prefault({}),
});

export type Config = z.output<typeof configSchema>;
