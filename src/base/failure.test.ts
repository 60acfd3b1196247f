import { expect, test } from "vitest";
import { assertNever, CodedError, err, failure, failureOf, ok, unwrap } from "./failure.ts";

test("a failure does not invite a retry unless it says so, and has a cause only when given one", () => {
  expect(failure("store.locked", "locked")).toEqual({ code: "store.locked", message: "locked", retry: false });
  const cause = new Error("EBUSY");
  expect(failure("store.locked", "locked", { retry: true, cause })).toEqual({
    code: "store.locked",
    message: "locked",
    retry: true,
    cause,
  });
});

test("unwrap gives the value, or throws the failure with its code, text and cause", () => {
  expect(unwrap(ok(5))).toBe(5);
  const cause = new Error("disk");
  const failed = err(failure("file.disk-full", "the disk is full", { cause }));
  try {
    unwrap(failed);
    expect.unreachable();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(CodedError);
    expect(thrown).toMatchObject({ code: "file.disk-full", message: "the disk is full", cause, name: "CodedError" });
    expect(failureOf(thrown)).toBe(failed.failure);
  }
});

test("failureOf finds nothing in things that carry no failure", () => {
  for (const thrown of [new Error("plain"), "text", undefined, null, { code: "looks.like", message: "one" }]) {
    expect(failureOf(thrown)).toBeUndefined();
  }
});

test("a value that no case expects is named in the error", () => {
  expect(() => assertNever("surprise" as never)).toThrow('unreachable case: "surprise"');
});
