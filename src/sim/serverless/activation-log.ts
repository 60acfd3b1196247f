/**
 * Records of activations, until somebody takes them.
 * Owns: a bounded ring in columns; where nobody takes them the oldest are lost, and nothing is allocated per record.
 */
import { milliseconds, type WorkloadId } from "../../base/index.ts";
import type { ActivationOutcome, ActivationRecord } from "./world.ts";

const FIRST_ROOM = 1_024;
const MOST_ROOM = 65_536;
const OUTCOMES: readonly ActivationOutcome[] = ["completed", "killed", "dropped", "refused"];

export class ActivationLog {
  #owners: (WorkloadId | undefined)[] = [];
  /** By record: when it came, waiting, cold start, execution, outcome. */
  #numbers = new Float64Array(FIRST_ROOM * 5);
  #room = FIRST_ROOM;
  #next = 0;
  #size = 0;

  add({ workload, arrivedAt, outcome, waiting, coldStart, execution }: ActivationRecord): void {
    if (this.#size === this.#room && this.#room < MOST_ROOM) this.#grow();
    const place = this.#next;
    this.#next = (place + 1) & (this.#room - 1);
    if (this.#size < this.#room) this.#size++;
    this.#owners[place] = workload;
    const numbers = this.#numbers;
    const at = 5 * place;
    numbers[at] = arrivedAt;
    numbers[at + 1] = waiting;
    numbers[at + 2] = coldStart;
    numbers[at + 3] = execution;
    numbers[at + 4] = OUTCOMES.indexOf(outcome);
  }

  take(): readonly ActivationRecord[] {
    const first = this.#next - this.#size;
    const records = Array.from({ length: this.#size }, (_, i): ActivationRecord => {
      const place = (first + i) & (this.#room - 1);
      const [arrivedAt, waiting, coldStart, execution, outcome] = this.#numbers.subarray(5 * place) as unknown as [
        number,
        number,
        number,
        number,
        number,
      ];
      return {
        workload: this.#owners[place] as WorkloadId,
        arrivedAt: milliseconds(arrivedAt),
        outcome: OUTCOMES[outcome]!,
        waiting,
        coldStart,
        execution,
      };
    });
    this.#size = 0;
    return records;
  }

  /** Only when it is full, so that the oldest is at the next place. */
  #grow(): void {
    const [room, first] = [this.#room, this.#next];
    const numbers = new Float64Array(10 * room);
    numbers.set(this.#numbers.subarray(5 * first));
    numbers.set(this.#numbers.subarray(0, 5 * first), 5 * (room - first));
    this.#owners = [...this.#owners.slice(first), ...this.#owners.slice(0, first)];
    this.#numbers = numbers;
    this.#room = 2 * room;
    this.#next = room;
  }
}
