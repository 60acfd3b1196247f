/**
 * A dense policy as an ONNX file, written straight as protobuf bytes: a dozen fields do not need a library.
 * Field numbers are those of onnx.proto (IR version 8, operator set 13): Gemm, Relu, Tanh.
 */

const FLOAT = 1; // TensorProto.DataType

export interface PolicyLayers {
  readonly widths: readonly number[];
  /** Layer by layer: weights [inputs, outputs], biases [outputs]. */
  readonly params: Float32Array;
}

/** Input "observation" [1, inputs]; hidden ReLU; output "action" [1, outputs] through tanh. */
export function policyModel({ widths, params }: PolicyLayers): Uint8Array {
  const nodes: Uint8Array[] = [];
  const weights: Uint8Array[] = [];
  const layers = widths.length - 1;
  let at = 0;
  let from = "observation";
  for (let i = 0; i < layers; i++) {
    const inputs = widths[i] as number;
    const outputs = widths[i + 1] as number;
    weights.push(tensor(`w${i}`, [inputs, outputs], params.subarray(at, at + inputs * outputs)));
    at += inputs * outputs;
    weights.push(tensor(`b${i}`, [outputs], params.subarray(at, at + outputs)));
    at += outputs;
    nodes.push(node("Gemm", [from, `w${i}`, `b${i}`], `z${i}`));
    const isLast = i === layers - 1;
    from = isLast ? "action" : `h${i}`;
    nodes.push(node(isLast ? "Tanh" : "Relu", [`z${i}`], from));
  }
  if (at !== params.length) throw new RangeError(`these widths need ${at} parameters, got ${params.length}`);
  const graph = join([
    ...nodes.map((n) => bytesField(1, n)),
    textField(2, "policy"),
    ...weights.map((w) => bytesField(5, w)),
    bytesField(11, valueInfo("observation", [1, widths[0] as number])),
    bytesField(12, valueInfo("action", [1, widths[layers] as number])),
  ]);
  const operatorSet = varintField(2, 13);
  return join([varintField(1, 8), textField(2, "coxswain"), bytesField(7, graph), bytesField(8, operatorSet)]);
}

function node(operator: string, inputs: readonly string[], output: string): Uint8Array {
  return join([...inputs.map((name) => textField(1, name)), textField(2, output), textField(4, operator)]);
}

function tensor(name: string, shape: readonly number[], values: Float32Array): Uint8Array {
  const raw = new Uint8Array(values.slice().buffer);
  return join([...shape.map((d) => varintField(1, d)), varintField(2, FLOAT), textField(8, name), bytesField(9, raw)]);
}

function valueInfo(name: string, shape: readonly number[]): Uint8Array {
  const dims = shape.map((d) => bytesField(1, varintField(1, d)));
  const type = bytesField(1, join([varintField(1, FLOAT), bytesField(2, join(dims))]));
  return join([textField(1, name), bytesField(2, type)]);
}

const VARINT = 0;
const LENGTH = 2;

function varint(value: number): Uint8Array {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  out.push(rest);
  return Uint8Array.from(out);
}

const key = (field: number, wire: number) => varint(field * 8 + wire);
const varintField = (field: number, value: number) => join([key(field, VARINT), varint(value)]);
const bytesField = (field: number, bytes: Uint8Array) => join([key(field, LENGTH), varint(bytes.length), bytes]);
const textField = (field: number, text: string) => bytesField(field, new TextEncoder().encode(text));

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
