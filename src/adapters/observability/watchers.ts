/** Several watchers of the loop's turns as one. */
import type { TurnWatcher } from "../../control/loop/index.ts";

/** Each is told everything, in the order given. */
export function watchedByAll(watchers: readonly TurnWatcher[]): TurnWatcher | undefined {
  if (watchers.length < 2) return watchers[0];
  return {
    begin(agent, workload) {
      const turns = watchers.map((watcher) => watcher.begin(agent, workload));
      return {
        enter: (phase) => {
          for (const turn of turns) turn.enter(phase);
        },
        end: (tick, applied) => {
          for (const turn of turns) turn.end(tick, applied);
        },
      };
    },
  };
}
