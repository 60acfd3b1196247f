/** What an agent's process asks of a pool's coordinator over NATS. Owns: the calls. Not here: what is done with answers. */
import { err, type Ms, type Result } from "../../base/index.ts";
import type { HostState, JoinAnswer, JoinRequest, StepAnswer, StepRequest } from "../../control/agents/index.ts";
import type { NatsLink } from "./connection.ts";
import { natsFailure } from "./failures.ts";
import { readJoinAnswer, readState, readStepAnswer, subjects, writeJoin, writeStep } from "./fleet-messages.ts";

export interface FleetClient {
  join(request: JoinRequest, timeout: Ms): Promise<Result<JoinAnswer>>;
  /** Answered when the step is closed. */
  step(session: string, request: StepRequest, timeout: Ms): Promise<Result<StepAnswer>>;
  leave(session: string, timeout: Ms): Promise<Result<HostState>>;
  state(timeout: Ms): Promise<Result<HostState>>;
}

export function fleetClient(link: NatsLink, pool: string): FleetClient {
  const names = subjects(pool);
  const ask = async <T>(
    subject: string,
    {
      body,
      read,
      timeout,
    }: { readonly body: string; readonly read: (bytes: Uint8Array) => Result<T>; readonly timeout: Ms },
  ): Promise<Result<T>> => {
    try {
      return read((await link.connection.request(subject, body, { timeout })).data);
    } catch (thrown) {
      return err(natsFailure(thrown, `the coordinator of the pool '${pool}'`));
    }
  };
  return {
    join: (request, timeout) => ask(names.join, { body: writeJoin(request), read: readJoinAnswer, timeout }),
    step: (session, request, timeout) =>
      ask(names.step(session), { body: writeStep(request), read: readStepAnswer, timeout }),
    leave: (session, timeout) => ask(names.leave(session), { body: "", read: readState, timeout }),
    state: (timeout) => ask(names.status, { body: "", read: readState, timeout }),
  };
}
