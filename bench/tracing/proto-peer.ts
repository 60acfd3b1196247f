/**
 * OTLP decoded by protobuf-es, the library that this package uses for its own protocol: an object per message.
 * Owns: the description of OTLP's trace messages, as far as spans go, and turning it into a decoder.
 */
import { create, createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";

type Field = readonly [name: string, number: number, type: Type | string, repeated?: "repeated"];

const MESSAGES: Readonly<Record<string, readonly Field[]>> = {
  ExportTraceServiceRequest: [["resource_spans", 1, "ResourceSpans", "repeated"]],
  ResourceSpans: [
    ["resource", 1, "Resource"],
    ["scope_spans", 2, "ScopeSpans", "repeated"],
    ["schema_url", 3, Type.STRING],
  ],
  Resource: [["attributes", 1, "KeyValue", "repeated"]],
  ScopeSpans: [
    ["spans", 2, "Span", "repeated"],
    ["schema_url", 3, Type.STRING],
  ],
  Span: [
    ["trace_id", 1, Type.BYTES],
    ["span_id", 2, Type.BYTES],
    ["trace_state", 3, Type.STRING],
    ["parent_span_id", 4, Type.BYTES],
    ["name", 5, Type.STRING],
    ["kind", 6, Type.INT32],
    ["start_time_unix_nano", 7, Type.FIXED64],
    ["end_time_unix_nano", 8, Type.FIXED64],
    ["attributes", 9, "KeyValue", "repeated"],
    ["links", 13, "Link", "repeated"],
    ["status", 15, "Status"],
    ["flags", 16, Type.FIXED32],
  ],
  Link: [
    ["trace_id", 1, Type.BYTES],
    ["span_id", 2, Type.BYTES],
  ],
  Status: [
    ["message", 2, Type.STRING],
    ["code", 3, Type.INT32],
  ],
  KeyValue: [
    ["key", 1, Type.STRING],
    ["value", 2, "AnyValue"],
  ],
  // A oneof in the original; as plain fields it is read the same way.
  AnyValue: [
    ["string_value", 1, Type.STRING],
    ["bool_value", 2, Type.BOOL],
    ["int_value", 3, Type.INT64],
    ["double_value", 4, Type.DOUBLE],
  ],
};

/** Decodes a message whole and says how many spans it had. */
export function libraryDecoder(): (bytes: Uint8Array) => number {
  const file = create(FileDescriptorProtoSchema, {
    name: "otlp.proto",
    package: "otlp",
    syntax: "proto3",
    messageType: Object.entries(MESSAGES).map(([name, fields]) => ({
      name,
      field: fields.map(([fieldName, number, type, repeated]) => ({
        name: fieldName,
        number,
        label: repeated === undefined ? Label.OPTIONAL : Label.REPEATED,
        jsonName: fieldName,
        ...(typeof type === "string" ? { type: Type.MESSAGE, typeName: `.otlp.${type}` } : { type }),
      })),
    })),
  });
  const schema = createFileRegistry(file, () => undefined).getMessage("otlp.ExportTraceServiceRequest") as DescMessage;
  return (bytes) => {
    const request = fromBinary(schema, bytes) as unknown as {
      readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly unknown[] }[] }[];
    };
    let spans = 0;
    for (const { scopeSpans } of request.resourceSpans) for (const scope of scopeSpans) spans += scope.spans.length;
    return spans;
  };
}
