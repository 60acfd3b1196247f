/** Host and player in one process, over real sockets of loopback. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AgentId,
  CodedError,
  type EpisodeId,
  failure,
  failureOf,
  type Ms,
  milliseconds,
  seededRng,
  unwrap,
} from "../../base/index.ts";
import { box, dict, discrete, type Env, makeEnv, multiBinary, multiDiscrete, tuple } from "../../learn/env/index.ts";
import { transitionOf } from "../../learn/trajectory/index.ts";
import { memoryStore } from "../store/index.ts";
import type { EnvServer, EnvServerOptions, HostedWorld, RemoteEnvOptions } from "./index.ts";
import { connectEnv, recordRemote, serveEnvs } from "./index.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

const serve = async (options: EnvServerOptions = {}): Promise<EnvServer> => {
  const server = unwrap(await serveEnvs(options));
  open.push(server);
  return server;
};
const play = async <Obs = Float32Array, Action = number>(options: Partial<RemoteEnvOptions> & { url: string }) => {
  const env = await connectEnv<Obs, Action>({ id: "CartPole-v1", patience: milliseconds(10_000), ...options });
  open.push(env);
  return env;
};
const codeOf = async (job: Promise<unknown>): Promise<string | undefined> => {
  try {
    await job;
    return "none";
  } catch (thrown) {
    return failureOf(thrown)?.code ?? String(thrown);
  }
};

/** A line that can be cut while bytes are on it. */
async function line(port: number): Promise<{ url: string; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const made = {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
  open.push(made);
  return made;
}

describe("an environment over RPC", () => {
  test("gives the same bytes as the same seed does at home", async () => {
    const { url } = await serve();
    for (const id of ["CartPole-v1", "Pendulum-v1"] as const) {
      const [far, home] = [await play<Float32Array, unknown>({ url, id }), makeEnv<Float32Array, unknown>(id)];
      expect(far.spec).toEqual(home.spec);
      const rng = seededRng(3);
      for (const request of [{ seed: 11 }, {}]) {
        expect(await far.reset(request)).toEqual(home.reset(request));
        for (let t = 0, end = "no"; t < 40 && end === "no"; t++) {
          const action = home.actionSpace.sample(rng);
          const step = home.step(action);
          expect(await far.step(action)).toEqual(step);
          end = step.end;
        }
      }
    }
  });

  test("describes every kind of space, infinite bounds and the order of names included", async () => {
    const observationSpace = dict({
      z: box({ low: [-1, Number.NEGATIVE_INFINITY], high: [1, Number.POSITIVE_INFINITY] }),
      a: tuple([discrete(3), multiBinary(2)]),
    });
    const actionSpace = multiDiscrete([2, 5]);
    const obs = { z: Float32Array.of(0.1, -7), a: [2, Uint8Array.of(1, 0)] as const };
    const world: Env<unknown, unknown> = {
      spec: { id: "Spaces-v0" },
      observationSpace,
      actionSpace: actionSpace as Env<unknown, unknown>["actionSpace"],
      reset: () => ({ obs, info: { big: Number.POSITIVE_INFINITY, rows: Float32Array.of(1) } }),
      step: (action) => ({ obs, reward: (action as Int32Array)[1] ?? 0, end: "terminated" }),
      close: () => undefined,
    };
    const { url } = await serve({ open: () => world });
    const far = await play<typeof obs, Int32Array>({ url, id: "Spaces-v0" });
    expect(far.observationSpace.describe()).toBe(observationSpace.describe());
    expect(far.actionSpace.describe()).toBe(actionSpace.describe());
    expect(await far.reset()).toEqual({ obs, info: { big: "Infinity", rows: [1] } });
    expect(await far.step(Int32Array.of(1, 4))).toEqual({ obs, reward: 4, end: "terminated" });
  });

  test("refuses with the world's own codes", async () => {
    const { url } = await serve();
    const far = await play({ url });
    expect(await codeOf(far.step(0))).toBe("env.needs-reset");
    await far.reset({ seed: 1 });
    expect(await codeOf(far.step(9))).toBe("space.mismatch");
    expect((await far.step(1)).end).toBe("no");
    expect(await codeOf(far.reset({ options: { wrong: 1 } }))).toBe("env.options");
    expect(await codeOf(far.step(1))).toBe("env.needs-reset");
    expect(await codeOf(connectEnv({ url, id: "CartPol-v1" }))).toBe("env.unknown-id");
    await far.close();
    await far.close();
    expect(await codeOf(far.reset())).toBe("env.closed");
  });

  test("allows one call at a time, and asks for a reset after a wait that was given up", async () => {
    const { url } = await serve();
    const far = await play({ url });
    const first = far.reset({ seed: 1 });
    expect(await codeOf(far.step(1))).toBe("env.busy");
    await first;
    const stop = new AbortController();
    const waiting = far.step(1, { signal: stop.signal });
    stop.abort(new Error("no time"));
    expect(await codeOf(waiting)).toBe("Error: no time");
    expect(await codeOf(far.step(1))).toBe("env.needs-reset");
    expect(await far.reset({ seed: 1 })).toEqual(makeEnv("CartPole-v1").reset({ seed: 1 }));
    expect(far.moment).toMatchObject({ episode: 2, step: undefined });
  });
});

describe("access and limits", () => {
  test("an address that others can reach needs a token, and a token must be sent", async () => {
    const refused = await serveEnvs({ host: "0.0.0.0" });
    expect(!refused.ok && refused.failure.code).toBe("env.token-required");
    const weak = await serveEnvs({ tokens: ["short"] });
    expect(!weak.ok && weak.failure.code).toBe("env.token-weak");
    const accessToken = "a-token-of-24-characters";
    const { url } = await serve({ tokens: [accessToken] });
    expect(await codeOf(connectEnv({ url, id: "CartPole-v1" }))).toBe("env.token-refused");
    expect(await codeOf(connectEnv({ url, id: "CartPole-v1", accessToken: `${accessToken}x` }))).toBe(
      "env.token-refused",
    );
    expect((await (await play({ url, accessToken })).reset({ seed: 1 })).obs).toHaveLength(4);
  });

  test("a message above the limit, a session too many and a taken port are refused by name", async () => {
    const { url, port } = await serve({ maxSessions: 1, maxMessageBytes: 4096 });
    const far = await play({ url });
    expect(await codeOf(connectEnv({ url, id: "CartPole-v1" }))).toBe("env.too-many-sessions");
    expect(await codeOf(far.reset({ options: { state: "x".repeat(10_000) } }))).toBe("env.message-too-large");
    // The stream ended with it; the session did not.
    expect((await far.reset({ seed: 1 })).obs).toHaveLength(4);
    const taken = await serveEnvs({ port });
    expect(!taken.ok && taken.failure.code).toBe("env.bind");
  });

  test("a host that is not there is reported after the player's patience", async () => {
    const { url, close } = unwrap(await serveEnvs());
    await close();
    expect(await codeOf(connectEnv({ url, id: "CartPole-v1", patience: 100 as Ms }))).toBe("env.unreachable");
  });
});

describe("when the connection breaks", () => {
  test("a step whose answer was lost is made once and recorded once", async () => {
    const store = memoryStore();
    let steps = 0;
    let cut = (): void => {};
    const world = makeEnv<unknown, unknown>("Pendulum-v1", { maxSteps: 30 });
    const counted: HostedWorld = {
      ...world,
      step: (action: unknown) => {
        steps += 1;
        // The line breaks after the world moved and before anybody hears of it.
        if (steps % 4 === 2) cut();
        return world.step(action);
      },
    };
    const { port } = await serve({ open: () => counted });
    const wire = await line(port);
    cut = wire.cut;
    const agent = "player" as AgentId;
    const far = await recordRemote(await play<Float32Array, Float32Array>({ url: wire.url, id: "Pendulum-v1" }), {
      store,
      agent,
    });
    const home = makeEnv("Pendulum-v1", { maxSteps: 30 });
    let { obs } = home.reset({ seed: 4 });
    expect((await far.reset({ seed: 4 })).obs).toEqual(obs);
    const expected = [];
    for (let t = 0; t < 30; t++) {
      const action = Float32Array.of(Math.sin(t));
      const step = home.step(action);
      expect(await far.step(action)).toEqual(step);
      expected.push({ step: t, obs, executed: action, reward: step.reward, end: step.end });
      obs = step.obs;
    }
    expect([steps, far.reconnects]).toEqual([30, 8]);
    const records = await store.episode(`${far.moment.session}.1` as EpisodeId);
    expect(records).toMatchObject(expected);
    expect(records.at(-1)?.finalObs).toEqual(obs);
    expect(records.filter((record, i) => transitionOf(record, records[i + 1]) === undefined)).toEqual([]);
  });

  test("another player with the token goes on where the first was, and the first is told", async () => {
    const { url } = await serve();
    const first = await play({ url });
    const home = makeEnv("CartPole-v1");
    await first.reset({ seed: 9 });
    home.reset({ seed: 9 });
    expect(await first.step(1)).toEqual(home.step(1));
    const second = await play({ url, resumeToken: first.resumeToken });
    expect(second.moment).toEqual(first.moment);
    expect(second.standing).toEqual(first.standing);
    expect(await second.step(0)).toEqual(home.step(0));
    expect(await codeOf(first.step(0))).toBe("env.session-moved");
    expect(await second.step(1)).toEqual(home.step(1));
  });

  test("a session that the host lost ends the episode truncated, by name, and the next reset plays on", async () => {
    const store = memoryStore();
    const before = unwrap(await serveEnvs());
    const connected = await play({ url: before.url });
    const far = await recordRemote(connected, { store, agent: "player" as AgentId });
    await far.reset({ seed: 2 });
    await far.step(0);
    const { obs } = await far.step(1);
    const { session } = far.moment;
    await before.close();
    const after = await serve({ port: before.port });
    expect(await far.step(1)).toEqual({ obs, reward: 0, end: "truncated" });
    expect(far.interruption?.code).toBe("env.session-lost");
    expect(await codeOf(far.step(1))).toBe("env.needs-reset");
    // Only what was acknowledged is recorded, and the last of it ends the episode.
    const records = await store.episode(`${session}.1` as EpisodeId);
    expect(records.map(({ step, reward, end }) => [step, reward, end])).toEqual([
      [0, 1, "no"],
      [1, 1, "truncated"],
    ]);
    expect(records[1]?.finalObs).toEqual(obs);
    const fresh = await far.reset();
    // A new world without a seed would start the same episodes again.
    expect(fresh.obs).not.toEqual(makeEnv("CartPole-v1").reset().obs);
    expect(fresh.obs).not.toEqual(makeEnv("CartPole-v1").reset({ seed: 2 }).obs);
    expect((await far.step(1)).end).toBe("no");
    expect([far.interruption, after.sessions]).toEqual([undefined, 1]);
    expect(far.moment.session).not.toBe(session);
  });

  test("a store that is away holds back the next step, not the one that was made", async () => {
    const store = memoryStore();
    const { url } = await serve();
    let isAway = false;
    const away = async () => {
      if (isAway) throw new CodedError(failure("store.unavailable", "gone for now", { retry: true }));
    };
    const far = await recordRemote(await play({ url }), {
      agent: "player" as AgentId,
      store: {
        append: async (records) => {
          await away();
          return store.append(records);
        },
        complete: async (late) => {
          await away();
          return store.complete(late);
        },
      },
    });
    await far.reset({ seed: 1 });
    isAway = true;
    expect((await far.step(1)).end).toBe("no");
    expect(await codeOf(far.step(1))).toBe("store.unavailable");
    expect(far.moment.step).toBe(0);
    isAway = false;
    await far.step(1);
    await far.close();
    const records = await store.episode(`${far.moment.session}.1` as EpisodeId);
    expect(records.map(({ step, end }) => [step, end])).toEqual([
      [0, "no"],
      [1, "truncated"],
    ]);
  });
});
