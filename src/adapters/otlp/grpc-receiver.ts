/**
 * Spans over gRPC: OTLP's TraceService/Export.
 * Owns: the service, described by hand, and its answers. Not here: HTTP/2, frames and compression (Connect), decoding.
 *
 * The description says `repeated bytes resource_spans` where OTLP says `repeated ResourceSpans`: on the wire the two are
 * the same, and so the library hands us each part's bytes instead of making an object of every span.
 */
import { createServer, type Http2Server } from "node:http2";
import { create, createFileRegistry, type DescService, type Message } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressionGzip, connectNodeAdapter } from "@connectrpc/connect-node";
import type { Failure } from "../../base/index.ts";
import type { SpanDoor } from "./door.ts";
import { retryAfterOf, type SpanIntake } from "./intake.ts";

const PACKAGE = "opentelemetry.proto.collector.trace.v1";

interface FieldPlan {
  readonly number: number;
  readonly type: Type;
  readonly typeName?: string;
  readonly label?: Label;
}

const field = (name: string, plan: FieldPlan) => ({ name, label: Label.OPTIONAL, jsonName: name, ...plan });

function traceService(): DescService {
  const file = create(FileDescriptorProtoSchema, {
    name: "opentelemetry/proto/collector/trace/v1/trace_service.proto",
    package: PACKAGE,
    syntax: "proto3",
    messageType: [
      {
        name: "ExportTraceServiceRequest",
        field: [field("resource_spans", { number: 1, type: Type.BYTES, label: Label.REPEATED })],
      },
      {
        name: "ExportTraceServiceResponse",
        field: [
          field("partial_success", {
            number: 1,
            type: Type.MESSAGE,
            typeName: `.${PACKAGE}.ExportTracePartialSuccess`,
          }),
        ],
      },
      {
        name: "ExportTracePartialSuccess",
        field: [
          field("rejected_spans", { number: 1, type: Type.INT64 }),
          field("error_message", { number: 2, type: Type.STRING }),
        ],
      },
    ],
    service: [
      {
        name: "TraceService",
        method: [
          {
            name: "Export",
            inputType: `.${PACKAGE}.ExportTraceServiceRequest`,
            outputType: `.${PACKAGE}.ExportTraceServiceResponse`,
          },
        ],
      },
    ],
  });
  const service = createFileRegistry(file, () => undefined).getService(`${PACKAGE}.TraceService`);
  if (service === undefined) throw new Error("the description of TraceService does not hold itself together");
  return service;
}

export interface GrpcReceiverOptions {
  readonly intake: SpanIntake;
  readonly door: SpanDoor;
  /** Of one message, unpacked. */
  readonly maxInflatedBytes: number;
}

interface ExportRequest extends Message {
  readonly resourceSpans: readonly Uint8Array[];
}

export function grpcReceiver({ intake, door, maxInflatedBytes }: GrpcReceiverOptions): Http2Server {
  const service = traceService();
  const handler = connectNodeAdapter({
    connect: false,
    grpcWeb: false,
    readMaxBytes: maxInflatedBytes,
    acceptCompression: [compressionGzip],
    routes: (router) =>
      router.service(service, {
        export(request: Message, context: { readonly requestHeader: Headers }) {
          if (!door(context.requestHeader.get("authorization") ?? undefined))
            throw new ConnectError(
              "send the metadata 'authorization: Bearer <token>' of this receiver",
              Code.Unauthenticated,
            );
          const taken = intake.takeParts((request as ExportRequest).resourceSpans);
          if (!taken.ok) throw statusOf(taken.failure);
          const { unused, why } = taken.value;
          return unused > 0 ? { partialSuccess: { rejectedSpans: BigInt(unused), errorMessage: why } } : {};
        },
      } as never),
  });
  const server = createServer({ settings: { maxConcurrentStreams: 100 } }, handler);
  // A connection that breaks is seen by its streams; without a listener it would end the process.
  server.on("session", (session) => session.on("error", () => undefined));
  server.on("sessionError", () => undefined);
  return server;
}

function statusOf(problem: Failure): ConnectError {
  if (problem.code !== "otlp.busy") return new ConnectError(problem.message, Code.InvalidArgument);
  // As OTLP asks, senders may come back after UNAVAILABLE; the time is also told where gRPC's clients look for it.
  const headers = { "grpc-retry-pushback-ms": String(1_000 * retryAfterOf(problem)) };
  return new ConnectError(problem.message, Code.Unavailable, headers);
}
