import fc from "fast-check";
import { expect, test } from "vitest";
import { RunningSet } from "./running-set.ts";

test("whatever the order they came in, they leave by their end, equals by their coming", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 9 })), { maxLength: 200 }), (commands) => {
      const set = new RunningSet();
      let model: { end: number; request: number }[] = [];
      let count = 0;
      for (const end of commands) {
        if (end !== null) {
          model = [...model, { end, request: count }].sort((a, b) => a.end - b.end || a.request - b.request);
          set.add(end, count++);
        } else if (model.length > 0) {
          expect(set.nextEnd).toBe(model[0]?.end);
          expect(set.takeNext()).toBe(model.shift()?.request);
        }
        expect(set.size).toBe(model.length);
      }
    }),
    { seed: 4, numRuns: 200 },
  );
});
