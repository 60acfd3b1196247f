/**
 * Clocks of two hosts differ; a child cannot begin before its cause.
 * Owns: when times of a child are taken as skewed, and by how much they are moved.
 *
 * Within one instance all spans share a clock, so a child there moves with its parent. Between instances:
 * a child that begins before its parent is skewed, whatever it is. A server that ends after the client that waited for it
 * is skewed too. Anything else that outlives its parent may be background work and is left alone: moving it would turn
 * every background span into a synchronous one. A moved child is put in the middle of its parent, as in Jaeger: the
 * network takes as long there as back; where it is longer than its parent, the two begin together.
 */
import { SPAN_KINDS } from "../telemetry/index.ts";

const SERVER = SPAN_KINDS.indexOf("server");
const CLIENT = SPAN_KINDS.indexOf("client");
const PRODUCER = SPAN_KINDS.indexOf("producer");
const CONSUMER = SPAN_KINDS.indexOf("consumer");

export interface TimedSpan {
  startUs: number;
  endUs: number;
  kind: number;
}

/** By how much to move a child of another instance; 0 where nothing says that its clock is wrong. */
export function skewOf(parent: TimedSpan, child: TimedSpan): number {
  if (isMessage(parent.kind, child.kind)) return 0;
  const isEarly = child.startUs < parent.startUs;
  const isCall = parent.kind === CLIENT && child.kind === SERVER;
  if (!isEarly && !(isCall && child.endUs > parent.endUs)) return 0;
  const room = parent.endUs - parent.startUs - (child.endUs - child.startUs);
  const begin = room >= 0 ? parent.startUs + room / 2 : parent.startUs;
  return begin - child.startUs;
}

/** A consumer runs when it likes, and nobody waits for it. */
export function isMessage(parentKind: number, childKind: number): boolean {
  return parentKind === PRODUCER || childKind === CONSUMER;
}
