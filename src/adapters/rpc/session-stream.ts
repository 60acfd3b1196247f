/**
 * One stream of one client, or its calls one by one, on the host's side.
 * Owns: the order of messages (init first, then one call at a time), and leaving the session as it is when the stream
 * breaks. Not here: sockets (env-server.ts), what a call does (hosted-session.ts).
 */
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { CodedError, type Failure, failure, failureOf, Mailbox, type Ms } from "../../base/index.ts";
import type { EnvConfig } from "../../learn/env/index.ts";
import {
  type ClientMessage,
  type Init,
  ReadySchema,
  type ServerMessage,
  ServerMessageSchema,
} from "./generated/coxswain/env/v1/env_pb.ts";
import { HostedSession, type HostedWorld, isFleet } from "./hosted-session.ts";
import type { SessionTable, Slot } from "./session-table.ts";
import { problemMessage, publicFailure } from "./wire-problems.ts";
import { spaceToMessage } from "./wire-spaces.ts";

/** Both ends must speak it; a change that an older end would misunderstand gets the next number. */
export const PROTOCOL = 1;

export interface StreamHost {
  readonly table: SessionTable;
  readonly open: (id: string, config: EnvConfig) => HostedWorld | Promise<HostedWorld>;
  readonly onDefect: (thrown: unknown) => void;
  readonly idle: Ms;
  /** How long a stream may stay without its first message. */
  readonly hello: Ms;
}

/** A client sends the next call after the last answer; a little room lets a repeat overtake nothing. */
const INBOX = 4;

export async function* serveStream(
  host: StreamHost,
  requests: AsyncIterable<ClientMessage>,
  context: HandlerContext,
): AsyncGenerator<ServerMessage> {
  const inbox = new Mailbox<ClientMessage>({ capacity: INBOX });
  const broken = { by: undefined as unknown };
  const kicked = { why: undefined as Failure | undefined };
  const kick = (why: Failure): void => {
    kicked.why = why;
    inbox.close();
  };
  context.signal.addEventListener("abort", () => inbox.close(), { once: true });
  void receive(requests, inbox, kick).catch((thrown: unknown) => {
    broken.by = thrown;
    inbox.close();
  });

  let slot: Slot | undefined;
  try {
    const init = await firstMessage(inbox, host.hello);
    if (init === undefined) return;
    slot = await takeSlot(host, init, kick);
    yield await readyMessage(host, slot);
    for (let message = await inbox.take(); message !== undefined; message = await inbox.take()) {
      host.table.touch(slot);
      if (message.call.case === "close") return await host.table.end(slot);
      yield await answerTo(slot.hosted, message);
      // The answer may have taken longer than the session may be idle.
      host.table.touch(slot);
    }
    if (kicked.why !== undefined) yield problemMessage(kicked.why, { episode: 0 });
    // What the transport found (a message above the limit) is for the client to hear, as a status.
    else if (broken.by instanceof ConnectError && !context.signal.aborted) throw broken.by;
  } catch (thrown) {
    if (thrown instanceof ConnectError) throw thrown;
    if (failureOf(thrown) === undefined) host.onDefect(thrown);
    yield problemMessage(publicFailure(thrown), { episode: 0 });
  } finally {
    inbox.close();
    if (slot !== undefined) host.table.leave(slot, kick);
  }
}

/** One message of a client without streams. Its session is named by the token, and is taken from whoever was attached. */
export async function serveCall(host: StreamHost, message: ClientMessage): Promise<ServerMessage> {
  const { call, resumeToken } = message;
  try {
    if (call.case === "init") return await readyMessage(host, await takeSlot(host, call.value, ignoreKick));
    const slot = host.table.resume(resumeToken, ignoreKick);
    if (call.case === "close") {
      await host.table.end(slot);
      return create(ServerMessageSchema, {});
    }
    const answer = await answerTo(slot.hosted, message);
    host.table.touch(slot);
    return answer;
  } catch (thrown) {
    if (failureOf(thrown) === undefined) host.onDefect(thrown);
    return problemMessage(publicFailure(thrown), { episode: 0 });
  }
}

/** Nobody waits between two calls; whoever lost the session hears so with the next one. */
const ignoreKick = (): void => undefined;

async function receive(
  requests: AsyncIterable<ClientMessage>,
  inbox: Mailbox<ClientMessage>,
  kick: (why: Failure) => void,
): Promise<void> {
  for await (const message of requests) {
    if (inbox.offer(message) || inbox.isClosed) continue;
    kick(failure("env.protocol", "calls came faster than they were answered; wait for each answer"));
    return;
  }
  inbox.close();
}

async function firstMessage(inbox: Mailbox<ClientMessage>, within: Ms): Promise<Init | undefined> {
  const late = new ConnectError("no Init came in time", Code.DeadlineExceeded);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(late), within);
  try {
    const message = await inbox.take(stop.signal);
    if (message === undefined || message.call.case === "init") return message?.call.value as Init | undefined;
  } finally {
    clearTimeout(timer);
  }
  throw new CodedError(failure("env.protocol", "a stream began with another message than Init; send Init first"));
}

async function takeSlot(host: StreamHost, init: Init, kick: (why: Failure) => void): Promise<Slot> {
  if (init.protocol !== PROTOCOL) {
    const text = `the client speaks version ${init.protocol} of the protocol and this host version ${PROTOCOL}; use the same on both ends`;
    throw new CodedError(failure("env.protocol", text));
  }
  if (init.resumeToken !== "") return host.table.resume(init.resumeToken, kick);
  const make = async (): Promise<HostedSession> => {
    const world = await host.open(init.envId, init.config ?? {});
    return new HostedSession({ world, onDefect: host.onDefect });
  };
  return host.table.open(make, kick);
}

async function readyMessage({ idle }: StreamHost, { id, token, hosted }: Slot): Promise<ServerMessage> {
  const { spec, observationSpace, actionSpace } = hosted.world;
  const standing = await hosted.standing();
  const { maxSteps, rewardThreshold } = spec;
  const value = create(ReadySchema, {
    protocol: PROTOCOL,
    session: id,
    resumeToken: token,
    spec: {
      id: spec.id,
      ...(maxSteps === undefined ? {} : { maxSteps }),
      ...(rewardThreshold === undefined ? {} : { rewardThreshold }),
    },
    observationSpace: spaceToMessage(observationSpace),
    actionSpace: spaceToMessage(actionSpace),
    idleMs: idle,
    ...(isFleet(hosted.world) && { possibleAgents: [...hosted.world.possibleAgents], maskSize: hosted.world.maskSize }),
    ...(standing && { standing }),
  });
  return create(ServerMessageSchema, { answer: { case: "ready", value } });
}

async function answerTo(hosted: HostedSession, { call }: ClientMessage): Promise<ServerMessage> {
  switch (call.case) {
    case "reset":
      return hosted.reset(call.value);
    case "step":
      return hosted.step(call.value);
    default: {
      const text = `'${call.case ?? "an unknown call"}' is no call that may come here; send Reset, Step or Close`;
      return problemMessage(failure("env.protocol", text), { episode: 0 });
    }
  }
}
