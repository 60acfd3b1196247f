/**
 * CRC-32C (Castagnoli), the checksum of checkpoints and of TensorBoard's record files.
 * Its polynomial finds every error of up to three flipped bits in messages of up to 2³¹ bits (Koopman, 2002) and
 * every burst of up to 32 bits, which is what disks and transfers do to a file. It is no protection against an author
 * of forgeries; nothing here needs one.
 */

const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;

// Slicing by eight (Kounavis and Berry, 2008): eight tables let the loop take eight bytes at a time.
const tables = buildTables();

function buildTables(): Uint32Array {
  const table = new Uint32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    table[byte] = crc;
  }
  for (let i = 256; i < table.length; i++) {
    const previous = table[i - 256]!;
    table[i] = (previous >>> 8) ^ table[previous & 255]!;
  }
  return table;
}

/** The checksum of the bytes; pass an earlier result as `seed` to go on where it ended. */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  let crc = ~seed;
  let i = 0;
  const wide = bytes.length - 7;
  while (i < wide) {
    const low = crc ^ (bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
    crc =
      tables[1792 + (low & 255)]! ^
      tables[1536 + ((low >>> 8) & 255)]! ^
      tables[1280 + ((low >>> 16) & 255)]! ^
      tables[1024 + (low >>> 24)]! ^
      tables[768 + bytes[i + 4]!]! ^
      tables[512 + bytes[i + 5]!]! ^
      tables[256 + bytes[i + 6]!]! ^
      tables[bytes[i + 7]!]!;
    i += 8;
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ tables[(crc ^ bytes[i]!) & 255]!;
  return ~crc >>> 0;
}
