/**
 * One kept-alive HTTP/1.1 connection that asks for one thing at a time and throws the answers away.
 * Owns: when an answer is complete, and its status. Not here: when to ask (load.ts).
 *
 * Node's own client would do, but it needs a third more of the processor and stops twice as often for its collections, on
 * the machine whose server is measured: what it takes and where it stops would be charged to the server.
 */
import { connect } from "node:net";

export interface Connection {
  readonly isOpen: boolean;
  /** The status of the answer; 0 where there was none. One at a time. */
  ask(path: string): Promise<number>;
  close(): void;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const CHUNKS_END = Buffer.from("0\r\n\r\n");

export function openConnection({ hostname, port, host }: URL): Connection {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let answered: ((status: number) => void) | null = null;
  let answer: Answer | null = null;
  let isOpen = true;

  const finish = (status: number): void => {
    const tell = answered;
    answered = null;
    answer = null;
    tell?.(status);
  };
  socket.on("data", (piece: Buffer) => {
    answer = answer === null ? readHead(piece) : answer.take(piece);
    if (answer.isComplete) finish(answer.status);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isOpen = false;
    finish(0);
  });

  return {
    get isOpen() {
      return isOpen;
    },
    ask: (path) =>
      new Promise((resolve) => {
        answered = resolve;
        if (isOpen) socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, "latin1");
        else finish(0);
      }),
    close() {
      socket.destroy();
    },
  };
}

/** What has come of an answer. */
interface Answer {
  readonly status: number;
  readonly isComplete: boolean;
  take(piece: Buffer): Answer;
}

/** The head may come in pieces, too. */
function readHead(so: Buffer): Answer {
  const end = so.indexOf(HEAD_END);
  if (end === -1) return { status: 0, isComplete: false, take: (piece) => readHead(Buffer.concat([so, piece])) };
  const head = so.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const body = so.subarray(end + HEAD_END.length);
  if (length !== undefined) return counted({ status, left: Number(length) - body.length });
  return /\r\ntransfer-encoding: *chunked/i.test(head)
    ? chunked(status, body)
    : // Without a body: 204 and 304.
      { status, isComplete: true, take: () => readHead(Buffer.alloc(0)) };
}

const counted = ({ status, left }: { status: number; left: number }): Answer => ({
  status,
  isComplete: left <= 0,
  take: (piece) => counted({ status, left: left - piece.length }),
});

/** Nothing follows the last chunk, because nothing else has been asked for; so the end is told by the last bytes alone. */
const chunked = (status: number, so: Buffer): Answer => ({
  status,
  isComplete: so.subarray(-CHUNKS_END.length).equals(CHUNKS_END),
  take: (piece) => chunked(status, Buffer.concat([so.subarray(-CHUNKS_END.length), piece])),
});
