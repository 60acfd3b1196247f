/**
 * Anomalies to try it with: buttons for the usual ones, a form for any, and those in force with their end.
 * Owns: what is asked for, and telling what came of it. Not here: whether it may happen (the guard behind the API).
 */
import { useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import {
  type AnomalyDocument,
  type AnomalyKind,
  type AnomalyWish,
  anomalyKinds,
  type ServicesDocument,
} from "../../../src/contract/index.ts";
import { say } from "../parts/notices.tsx";
import { injectAnomaly, stopAnomaly } from "../plane/services.ts";
import { connection } from "../plane/stream.ts";
import { elapsed } from "../words/format.ts";
import { anomalyWord } from "../words/services.ts";

type Simulated = NonNullable<ServicesDocument["simulated"]>;

const STRENGTHS = [
  { word: "weak", intensity: 0.4 },
  { word: "strong", intensity: 0.8 },
  { word: "all there is", intensity: 1 },
] as const;
const LASTS = [30, 60, 180, 600] as const;

export function Anomalies({ simulated }: { simulated: Simulated | null }): ComponentChild {
  const problem = useSignal<string | null>(null);
  if (simulated === null) return null;
  const isLive = connection.value.kind === "live";
  const carryOut = async (job: () => Promise<string>): Promise<void> => {
    try {
      say(await job());
      problem.value = null;
    } catch (reason) {
      problem.value = reason instanceof Error ? reason.message : String(reason);
    }
  };
  const begin = (wish: AnomalyWish): void =>
    void carryOut(async () => {
      const { anomaly, changed } = await injectAnomaly(wish);
      const less = changed.length === 0 ? "" : ` (${changed.join("; ")})`;
      return `Begun: ${wordsOf(anomaly)}${less}. It ends by itself.`;
    });
  const end = (one: AnomalyDocument): void =>
    void carryOut(async () => {
      await stopAnomaly(one.id);
      return `Stopped: ${wordsOf(one)}.`;
    });
  return (
    <section class="card anomalies" aria-labelledby="anomalies-title">
      <h2 id="anomalies-title">Let something go wrong</h2>
      <p class="quiet">In the simulated application only. Each ends by itself.</p>
      <fieldset disabled={!isLive}>
        <legend class="sr-only">Anomalies to begin</legend>
        <div class="anomaly-buttons">
          {presetsFor(simulated).map((wish) => (
            <button key={`${wish.kind} ${wish.target.name}`} type="button" onClick={() => begin(wish)}>
              {anomalyWord[wish.kind]}
              <small>{wish.target.on === "requests" ? "of all types" : `in ${wish.target.name}`}</small>
            </button>
          ))}
        </div>
        <details>
          <summary>Another one</summary>
          <AnomalyForm simulated={simulated} begin={begin} />
        </details>
      </fieldset>
      {problem.value === null ? null : (
        <p class="refusal" role="alert">
          <strong>Not done.</strong> {problem.value}
        </p>
      )}
      <h3>In force</h3>
      {simulated.anomalies.length === 0 ? <p class="quiet">None.</p> : null}
      <ul class="in-force">
        {simulated.anomalies.map((one) => (
          <li key={one.id}>
            <span>
              {wordsOf(one)}, intensity {one.intensity.toFixed(1)}
              <small>ends in {elapsed(one.until - Date.now())}</small>
            </span>
            <button type="button" disabled={!isLive} onClick={() => end(one)} aria-label={`Stop ${wordsOf(one)}`}>
              Stop
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const wordsOf = ({ kind, target }: Pick<AnomalyDocument, "kind" | "target">): string =>
  `${anomalyWord[kind].toLowerCase().replace("cpu", "CPU")} in ${target}`;

/** One of each sort, in instances that requests wait for; what the application has not is left out. */
function presetsFor({ targets }: Simulated): readonly AnomalyWish[] {
  const named = (...wanted: readonly string[]): string | undefined =>
    wanted.find((name) => targets.instances.includes(name)) ?? targets.instances[0];
  const presets: readonly [AnomalyKind, string | undefined][] = [
    ["cpu", named("user-0", "user-service-0", "ts-order-service-0")],
    ["memory-bandwidth", named("geo-0", "text-service-0", "ts-basic-service-0")],
    ["io-bandwidth", named("mongodb-reservation-0", "post-storage-mongodb-0", "ts-order-mongo-0")],
    ["network-delay", named("profile-0", "url-shorten-service-0", "ts-route-service-0")],
  ];
  return [
    ...presets.flatMap(([kind, name]): AnomalyWish[] =>
      name === undefined ? [] : [{ kind, target: { on: "instance", name }, intensity: 0.9, seconds: 180 }],
    ),
    { kind: "workload-variation", target: { on: "requests", name: "all" }, intensity: 1, seconds: 60 },
  ];
}

function AnomalyForm({
  simulated,
  begin,
}: {
  simulated: Simulated;
  begin: (wish: AnomalyWish) => void;
}): ComponentChild {
  const kind = useSignal<AnomalyKind>("cpu");
  const target = useSignal("");
  const intensity = useSignal<number>(0.8);
  const lasts = useSignal<number>(60);
  const { targets } = simulated;
  const isLoad = kind.value === "workload-variation";
  const choices: readonly AnomalyWish["target"][] = isLoad
    ? ["all", ...targets.requests].map((name) => ({ on: "requests", name }))
    : [
        ...targets.instances.map((name) => ({ on: "instance" as const, name })),
        ...targets.nodes.map((name) => ({ on: "node" as const, name })),
      ];
  const keyOf = ({ on, name }: AnomalyWish["target"]): string => `${on} ${name}`;
  const chosen = choices.find((choice) => keyOf(choice) === target.value) ?? choices[0];
  return (
    <form
      class="anomaly-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen !== undefined)
          begin({ kind: kind.value, target: chosen, intensity: intensity.value, seconds: lasts.value });
      }}
    >
      <label>
        What{" "}
        <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as AnomalyKind)}>
          {anomalyKinds.map((name) => (
            <option key={name} value={name}>
              {anomalyWord[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Where{" "}
        <select
          value={chosen === undefined ? "" : keyOf(chosen)}
          onChange={(event) => (target.value = event.currentTarget.value)}
        >
          {choices.map((choice) => (
            <option key={keyOf(choice)} value={keyOf(choice)}>
              {choice.on === "node" ? `node ${choice.name}` : choice.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        How strong{" "}
        <select value={intensity.value} onChange={(event) => (intensity.value = Number(event.currentTarget.value))}>
          {STRENGTHS.map((one) => (
            <option key={one.word} value={one.intensity}>
              {one.word}
            </option>
          ))}
        </select>
      </label>
      <label>
        How long{" "}
        <select value={lasts.value} onChange={(event) => (lasts.value = Number(event.currentTarget.value))}>
          {LASTS.map((seconds) => (
            <option key={seconds} value={seconds}>
              {elapsed(1_000 * seconds)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Begin</button>
    </form>
  );
}
