/**
 * How much all requests together hold in memory while they are read and unpacked.
 * Owns: each sender's share. Not here: how large one request may be (http-body.ts).
 *
 * A sender may hold no more than what is left for the others (Choudhury and Hahne 1998, "dynamic thresholds"): alone it
 * has half, two have a third each, and whoever comes anew always finds room.
 */

/** What one request holds. */
export interface HeldBytes {
  /** False when there is no room now. */
  take(bytes: number): boolean;
  giveBack(): void;
}

export class ByteBudget {
  readonly #most: number;
  readonly #bySender = new Map<string, number>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  open(sender: string): HeldBytes {
    let mine = 0;
    return {
      take: (bytes) => {
        const before = this.#bySender.get(sender) ?? 0;
        if (before + bytes > this.#most - this.#held - bytes) return false;
        this.#set(sender, before + bytes);
        mine += bytes;
        return true;
      },
      giveBack: () => {
        this.#set(sender, (this.#bySender.get(sender) ?? 0) - mine);
        mine = 0;
      },
    };
  }

  #set(sender: string, bytes: number): void {
    this.#held += bytes - (this.#bySender.get(sender) ?? 0);
    if (bytes === 0) this.#bySender.delete(sender);
    else this.#bySender.set(sender, bytes);
  }
}
