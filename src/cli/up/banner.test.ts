import { expect, test } from "vitest";
import { type Banner, bannerText } from "./banner.ts";

const about: Banner = {
  version: "0.1.0",
  url: "http://127.0.0.1:7070",
  world: { kind: "simulated", speed: 180 },
  workloads: [
    { workload: "web-shop", title: "Web shop" },
    { workload: "ml-serving", title: "ML serving" },
  ],
  hasFleet: false,
  application: "hotel-reservation",
  spans: { http: "http://127.0.0.1:4318", grpc: "http://127.0.0.1:4317" },
  folder: "/home/anna/.local/state/coxswain",
  hasDashboard: true,
  duration: undefined,
};
const text = (changed: Partial<Banner> = {}) => bannerText({ ...about, ...changed }, { hasColour: false });
const row = (name: string, banner = text()) =>
  banner
    .split("\n")
    .find((line) => line.startsWith(`  ${name} `))
    ?.slice(14);

test("it says where to look, what is running, where data is, what to try and how to stop", () => {
  expect(row("open")).toBe("http://127.0.0.1:7070");
  expect(row("world")).toBe("simulated, up to 180 times faster than real time");
  expect(row("workloads")).toBe("Web shop, ML serving");
  expect(row("services")).toBe("hotel-reservation, simulated, with its traces");
  expect(row("spans")).toBe("http://127.0.0.1:4318 (OTLP over HTTP), http://127.0.0.1:4317 (gRPC)");
  expect(row("data")).toBe("/home/anna/.local/state/coxswain");
  expect(row("try")).toMatch(/^watch Web shop and its agent +http:\/\/127\.0\.0\.1:7070\/workloads\/web-shop$/);
  expect(text()).toMatch(/find what holds requests up +http:\/\/127\.0\.0\.1:7070\/services\n/);
  expect(row("stop")).toBe("Ctrl-C; the next start goes on from there");
});

test("what is not running is not offered", () => {
  const bare = text({ application: null, spans: null, folder: null, duration: 60 });
  expect(row("services", bare)).toBe("none simulated");
  expect(row("spans", bare)).toBe("not received");
  expect(row("data", bare)).toBe("in memory: nothing is kept");
  expect(row("stop", bare)).toBe("by itself after 60 s, or Ctrl-C");
  expect(bare).not.toContain("/services");
  const api = text({ hasDashboard: false });
  expect(row("open", api)).toBe("http://127.0.0.1:7070/v1/overview");
  expect(api).not.toContain("/workloads/");
});

test("a fleet is offered first, where there is one", () => {
  expect(row("try", text({ hasFleet: true }))).toMatch(/^see who comes and goes +http:\/\/127\.0\.0\.1:7070\/fleet$/);
  expect(text()).not.toContain("/fleet");
});

test("of many workloads the first six are named, and the rest counted", () => {
  const workloads = Array.from({ length: 9 }, (_, index) => ({ workload: `w${index}`, title: `W${index}` }));
  expect(row("workloads", text({ workloads }))).toBe("W0, W1, W2, W3, W4, W5 and 3 more");
});

test("control sequences are written only where colours are wanted, and every line fits 100 columns", () => {
  expect(text()).not.toContain("\u001b");
  expect(bannerText(about, { hasColour: true })).toContain("\u001b[");
  for (const line of text().split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});
