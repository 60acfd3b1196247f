/**
 * What DuckDB does not notice of damage to its write-ahead log.
 * Owns: a look at the log before it is replayed. Not here: opening (duckdb-file.ts), damage that DuckDB finds by its checksums.
 *
 * DuckDB takes a log that does not begin as one, or an entry that claims more bytes than there are, for the torn end of a
 * commit that nobody was told of, and goes on without the rest. A beginning is never torn in the middle of a long file, and no
 * entry is as large as damage to the upper bytes of a length makes it. Damage to the lower ones looks like a torn end.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type Failure, failure } from "../../base/index.ts";

/** The fields of the entry that every log begins with: its kind (98, the version) and the version's own number. */
const BEGINNING = Buffer.from([0x64, 0x00, 0x62, 0x65, 0x00]);
const BEGINNING_BYTES = 8;
/** Behind it: version 2, and the end of the entry. Others have more fields, and their entries begin elsewhere. */
const READ_VERSION = Buffer.from([0x02, 0xff, 0xff]);
/** Length and checksum, eight bytes each. */
const HEAD_BYTES = 16;
/** An entry is a portion of at most 2,048 rows. */
const MOST_BYTES = 2n ** 30n;

/** undefined where there is none, or no damage of the kinds that are looked for. */
export function damageInLog(path: string, what: string): Failure | undefined {
  const log = `${path}.wal`;
  const at = damagedAt(log);
  if (at === undefined) return undefined;
  const text = `the log ${log} of the ${what} is damaged at byte ${at}; restore a copy of both files, or move the log away to go on without what only it holds`;
  return failure("store.corrupt", text);
}

function damagedAt(log: string): number | undefined {
  let file: number;
  try {
    file = openSync(log, "r");
  } catch {
    // Absent; or not to be read, which opening the store will say.
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    const head = Buffer.alloc(HEAD_BYTES);
    if (readSync(file, head, 0, BEGINNING_BYTES, 0) < BEGINNING_BYTES) return undefined;
    if (!head.subarray(0, BEGINNING.length).equals(BEGINNING)) return 0;
    if (!head.subarray(BEGINNING.length, BEGINNING_BYTES).equals(READ_VERSION)) return undefined;
    for (let at = BEGINNING_BYTES; at + HEAD_BYTES <= size; ) {
      readSync(file, head, 0, HEAD_BYTES, at);
      const claimed = head.readBigUInt64LE(0);
      if (claimed > MOST_BYTES) return at;
      at += HEAD_BYTES + Number(claimed);
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}
