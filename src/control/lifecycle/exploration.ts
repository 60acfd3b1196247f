/**
 * How an agent tries things out while it is ONLINE.
 * Owns: whose chance it is, the push and how it fades over one training, and what of it survives.
 * Not here: the push itself (shielded-noise.ts), when the learner may explore (health.ts).
 */
import type { Rng, RngState } from "../../base/index.ts";
import { restoreRng, seededRng } from "../../base/index.ts";
import type { Explorer } from "../../learn/rl/index.ts";
import type { AgentSettings } from "./agent-options.ts";
import { ShieldedNoise } from "./shielded-noise.ts";

export interface ExplorationOptions extends Pick<AgentSettings, "noise" | "holdNoise" | "fade"> {
  /** Components of an action. */
  readonly size: number;
  /** The furthest push of one of them. */
  readonly limit: number;
  /** Coordinates that are not lowered near the limit of the objective. */
  readonly upwards: readonly boolean[];
  readonly seed: number;
}

export interface ExplorationState {
  readonly rng: RngState;
  readonly noise: readonly number[];
  readonly onlineEpisodes: number;
}

export class Exploration {
  readonly #fade: AgentSettings["fade"];
  readonly #noise: ShieldedNoise;
  #rng: Rng;
  #episodes = 0;

  constructor({ noise, holdNoise, fade, size, limit, upwards, seed }: ExplorationOptions) {
    this.#fade = fade;
    this.#noise = new ShieldedNoise(noise, { size, hold: Math.max(1, holdNoise), limit, upwards });
    this.#rng = seededRng(seed).fork("exploration");
  }

  explorer({ isNearLimit }: { readonly isNearLimit: boolean }): Explorer {
    this.#noise.isNearLimit = isNearLimit;
    return { rng: this.#rng, noise: this.#noise };
  }

  /** A training begins. `isPractised`: its policy was trained before, elsewhere, and tries out as little as at an end. */
  begin({ isPractised }: Practice): void {
    this.#episodes = 0;
    this.fade({ isPractised });
  }

  /** An episode is over, in which it learned or not. */
  endEpisode({ isOnline }: { readonly isOnline: boolean }): void {
    this.#noise.reset();
    if (isOnline) this.#episodes += 1;
  }

  fade({ isPractised }: Practice): void {
    const { episodes, to } = this.#fade;
    const done = isPractised || episodes <= 0 ? 1 : Math.min(1, this.#episodes / episodes);
    this.#noise.scale = 1 - (1 - to) * done;
  }

  state(): ExplorationState {
    return { rng: this.#rng.state(), noise: [...this.#noise.state()], onlineEpisodes: this.#episodes };
  }

  restore({ rng, noise, onlineEpisodes }: ExplorationState): void {
    this.#rng = restoreRng(rng);
    this.#noise.restore(Float64Array.from(noise));
    this.#episodes = onlineEpisodes;
  }
}

interface Practice {
  readonly isPractised: boolean;
}
