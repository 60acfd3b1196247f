import { expect, test } from "vitest";
import { encodeScalars, eventFileHeader, eventFileName } from "./tensorboard.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

// These three records, as one file, were read back by the `tensorboard` Python package 2.21.0 (EventAccumulator):
// train/return 21.5 at step 500 and 195.25 at step 3,000,000,000, train/loss −0.5 at step 500, with these wall times.
const golden = {
  header: "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9",
  first:
    "36000000000000004f578cef0900001040fc54d94110f4032a280a130a0c747261696e2f72657475726e150000ac41" +
    "0a110a0a747261696e2f6c6f737315000000bfd7146beb",
  second:
    "2600000000000000734fe3000900004040fc54d9411080bcc1960b2a150a130a0c747261696e2f72657475726e15004043436dcef166",
};

test("event files are, byte for byte, the ones TensorBoard read", () => {
  expect(hex(eventFileHeader(1_700_000_000.25))).toBe(golden.header);
  const first = { wallTime: 1_700_000_000.25, step: 500, scalars: { "train/return": 21.5, "train/loss": -0.5 } };
  expect(hex(encodeScalars(first))).toBe(golden.first);
  const second = { wallTime: 1_700_000_001, step: 3_000_000_000, scalars: { "train/return": 195.25 } };
  expect(hex(encodeScalars(second))).toBe(golden.second);
});

test("the file name has the part that TensorBoard searches for", () => {
  expect(eventFileName({ wallTime: 1_700_000_000.9, run: "ppo-1" })).toBe("events.out.tfevents.1700000000.ppo-1");
});

test("a step that is not a whole number from 0 is refused", () => {
  expect(() => encodeScalars({ wallTime: 0, step: -1, scalars: {} })).toThrow(/whole number from 0/);
});
