import { expect, test } from "vitest";
import { NameTable } from "./name-table.ts";
import { SEAL_REASONS, TraceBlock } from "./trace-block.ts";

test("every trace of a block keeps why it was sealed and where its rows end, however many there are", () => {
  const block = new TraceBlock(new NameTable());
  for (let trace = 0; trace < 200; trace++) {
    block.reserve(1);
    block.spans.length += 1;
    block.endTrace(SEAL_REASONS[trace % SEAL_REASONS.length] ?? "flush");
  }
  for (let trace = 0; trace < 200; trace++) {
    expect(block.sealedBy[trace]).toBe(trace % SEAL_REASONS.length);
    expect([block.offsets[trace], block.offsets[trace + 1]]).toEqual([trace, trace + 1]);
  }
});
