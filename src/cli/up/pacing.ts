/**
 * How fast the world's time may pass.
 * Owns: the target, catching up by little, and the speed that was really reached. Pure: the wall's time is an argument.
 */

/** A plane that fell behind by more than this, by the wall, gives the lost time up instead of racing. */
const GIVE_UP_MS = 500;
const MEASURED_MS = 1_000;

export interface Moment {
  readonly wall: number;
  readonly world: number;
}

export class Pacing {
  readonly #speed: number;
  #anchor: Moment;
  #mark: Moment;
  #measured: number;

  constructor(speed: number, begin: Moment) {
    this.#speed = speed;
    this.#anchor = begin;
    this.#mark = begin;
    this.#measured = speed;
  }

  /** Times the wall's speed, over the last second. */
  get speed(): number {
    return this.#measured;
  }

  /** Milliseconds of the wall until the world may be at its next moment; 0 when it may be now. */
  wait({ wall, world }: Moment): number {
    const due = this.#anchor.wall + (world - this.#anchor.world) / this.#speed;
    if (wall - due > GIVE_UP_MS) this.#anchor = { wall, world };
    return Math.max(0, due - wall);
  }

  /** The world has arrived there. */
  note({ wall, world }: Moment): void {
    const passed = wall - this.#mark.wall;
    if (passed < MEASURED_MS) return;
    this.#measured = (world - this.#mark.world) / passed;
    this.#mark = { wall, world };
  }
}
