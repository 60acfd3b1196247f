import { expect, test } from "vitest";
import { mebibytes } from "../../base/index.ts";
import { developersStart, hpaAlone, typicalHpa } from "./typical-hpa.ts";

test("a developer asks for a core and twice the memory of a full pod, as far as there is so much", () => {
  const initial = { replicas: 1, memory: mebibytes(300) };
  expect(developersStart(typicalHpa, { initial, mostMemory: mebibytes(4_096) })).toEqual({
    replicas: 2,
    cpu: 1_000,
    memory: mebibytes(600),
  });
  expect(developersStart(typicalHpa, { initial, mostMemory: mebibytes(512) }).memory).toBe(mebibytes(512));
});

test("an HPA alone has a name of its own, so that its state is not taken for that of HPA and VPA", () => {
  const { cpu } = typicalHpa;
  expect(hpaAlone(typicalHpa, { requests: { cpu, memory: mebibytes(600) }, mostReplicas: 1 }).name).toBe("hpa");
});
