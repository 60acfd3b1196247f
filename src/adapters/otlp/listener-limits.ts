/** What a listener grants a connection, whoever is behind it. */
export interface ListenerLimits {
  /** Held at once; for one more, one that does nothing is closed. */
  readonly connections: number;
  /** From the connection's begin until a whole head of a request. */
  readonly headersMs: number;
  /** Until a whole request. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** How often slow ones are looked for. */
  readonly lookMs: number;
}

export const defaultListenerLimits: ListenerLimits = {
  connections: 1_000,
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 60_000,
  lookMs: 1_000,
};
