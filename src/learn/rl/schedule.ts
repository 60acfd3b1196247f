/** Settings that move with training. A schedule is plain data, so it can be written in a config and a checkpoint. */

/** From one value to another in a straight line over the first `fraction` of training, constant afterwards. */
export interface Schedule {
  readonly from: number;
  readonly to: number;
  readonly fraction: number;
}

export const constant = (value: number): Schedule => ({ from: value, to: value, fraction: 1 });

/** From the value to zero over the whole of training. */
export const annealed = (value: number): Schedule => ({ from: value, to: 0, fraction: 1 });

/** The value at a progress from 0 (start) to 1 (end); beyond, it stays. */
export function valueAt({ from, to, fraction }: Schedule, progress: number): number {
  const share = fraction <= 0 ? 1 : Math.min(Math.max(progress / fraction, 0), 1);
  return share === 1 ? to : from + (to - from) * share;
}
