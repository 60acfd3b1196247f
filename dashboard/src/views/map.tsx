/**
 * Workloads by embedding: what the shared model was trained on, where the managed workloads lie among it, who is whose
 * nearest neighbour; and how adapting with it compares with transfer learning.
 * Not here: drawing (parts/scatter.tsx), where embeddings come from.
 */
import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import type { EmbeddingsDocument, NeighbourDocument } from "../../../src/contract/index.ts";
import { Loading, Problem, Title } from "../parts/bits.tsx";
import { Mark, Scatter, type ScatterPoint } from "../parts/scatter.tsx";
import { readEmbeddings } from "../plane/client.ts";
import { hrefOf } from "../router.ts";
import { percent, plain } from "../words/format.ts";
import { AdaptationRun } from "./adaptation-run.tsx";
import { TrainingCurve } from "./training-curve.tsx";

type Loaded = "loading" | EmbeddingsDocument | { readonly problem: string };

const loaded = signal<Loaded>("loading");
/** What the marks stand for. */
const marked = signal<"sensitivity" | "shape">("sensitivity");

/** An embedding is refreshed after episodes, which take minutes of the cluster's time. */
const AGAIN_MS = 10_000;

function load(stop: AbortSignal): void {
  readEmbeddings(stop).then(
    (map) => {
      loaded.value = map;
    },
    (reason: unknown) => {
      // What is shown stays: it is no less true because the connection is gone.
      if (stop.aborted || (loaded.value !== "loading" && !("problem" in loaded.value))) return;
      loaded.value = { problem: reason instanceof Error ? reason.message : String(reason) };
    },
  );
}

export function MapView({ chosen }: { chosen: string | null }): ComponentChild {
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal);
    const timer = setInterval(() => load(stop.signal), AGAIN_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
  return (
    <div class="map-view">
      <Title>Map of workloads</Title>
      <p class="quiet">
        What a shared model makes of workloads: near one another are those that it takes for alike, and a new one is
        managed from its first minute on by what was learned on its neighbours.
      </p>
      {body(loaded.value, chosen)}
      <AdaptationRun />
    </div>
  );
}

function body(state: Loaded, chosen: string | null): ComponentChild {
  if (state === "loading") return <Loading what="the map" />;
  if ("problem" in state) return <Problem what="The map cannot be shown." why={state.problem} />;
  if (state.model === null) return <NoModel />;
  return <Known map={{ ...state, model: state.model }} chosen={chosen} />;
}

function NoModel(): ComponentChild {
  return (
    <div class="state">
      <p>
        <strong>No shared model yet.</strong> This control plane was started without one, so every agent begins from
        nothing.
      </p>
      <p>
        <code>coxswain pretrain --quick --out runs/pool</code> trains a small one in minutes;
      </p>
      <p>
        <code>coxswain up --shared-model runs/pool</code> shows it here.
      </p>
    </div>
  );
}

type KnownMap = EmbeddingsDocument & { readonly model: NonNullable<EmbeddingsDocument["model"]> };

/** A workload and a member of the pool may have the same name. */
const workloadId = (workload: string): string => `workload:${workload}`;

interface Item {
  readonly id: string;
  readonly title: string;
  /** What it is, in a sentence. */
  readonly about: string;
  readonly traits: { readonly sensitivity: string; readonly shape: string } | null;
  readonly nearest: readonly NeighbourDocument[];
  readonly point: ScatterPoint | null;
}

function itemsOf(map: KnownMap, kinds: readonly string[]): readonly Item[] {
  const by = marked.value;
  const titles = new Map(map.members.map(({ name, application }) => [name, titleOf(application)]));
  const managed = map.workloads.map(({ workload, title, state, why, place, nearest }): Item => {
    const id = workloadId(workload);
    const said = why.replace(/[\w-]+/g, (word) => titles.get(word) ?? word);
    return {
      id,
      title,
      about: `${STATES[state]}: ${said}`,
      traits: null,
      nearest,
      point: place === null ? null : { id, about: title, at: place, kind: 0, name: title },
    };
  });
  const members = map.members.map((member): Item => {
    const { name, application, sensitivity, shape, place, nearest } = member;
    const about = `${words(sensitivity)}, ${words(shape)} load`;
    const point = { id: name, about: `${application}: ${about}`, at: place, kind: kinds.indexOf(member[by]) };
    return { id: name, title: titleOf(application), about, traits: { sensitivity, shape }, nearest, point };
  });
  // Those that are managed are drawn last, above all others.
  return [...members, ...managed];
}

/** Applications are named after their segments. */
const titleOf = (application: string): string => application.replaceAll("+", " + ");

const STATES = { neutral: "Not placed yet", known: "Has kin here", stranger: "A stranger here" } as const;

const words = (name: string): string => name.replaceAll("-", " ").replace("cpu", "CPU").replace(/^io$/, "I/O");

function Known({ map, chosen }: { map: KnownMap; chosen: string | null }): ComponentChild {
  const by = marked.value;
  const kinds = [...new Set(map.members.map((member) => member[by]))].sort();
  const items = itemsOf(map, kinds);
  const first = items.find(({ id }) => id.startsWith("workload:")) ?? items[0];
  const looked = items.find(({ id }) => id === chosen) ?? first;
  const choose = (id: string): void => {
    location.hash = hrefOf({ view: "map", chosen: id });
  };
  const { model, shares } = map;
  return (
    <>
      <p class="facts">
        <code>{model.name}</code> · {model.applications} applications · {model.rounds} rounds · mean return of an
        episode {plain(model.known)} with each one's embedding, {plain(model.neutral)} with the neutral one
      </p>
      <div class="beside">
        <section class="card" aria-label="Map">
          <div class="map-controls">
            <label>
              Marks show{" "}
              <select
                value={by}
                onChange={(event) => {
                  marked.value = event.currentTarget.value === "shape" ? "shape" : "sensitivity";
                }}
              >
                <option value="sensitivity">what it depends on</option>
                <option value="shape">the shape of its load</option>
              </select>
            </label>
            <Chooser items={items} chosen={looked?.id ?? ""} choose={choose} />
          </div>
          <ul class="legend quiet" aria-label="Marks">
            {kinds.map((kind, index) => (
              <li key={kind}>
                <Mark kind={index} /> {words(kind)}
              </li>
            ))}
            {map.workloads.length === 0 ? null : <li>★ managed here</li>}
          </ul>
          <Scatter
            label={`Map of ${map.members.length} applications and ${map.workloads.length} managed workloads by embedding`}
            points={items.flatMap(({ point }) => point ?? [])}
            chosen={looked?.id ?? null}
            ties={looked?.nearest.map(({ name }) => name) ?? []}
            choose={choose}
          />
          <p class="quiet">
            The two directions in which the embeddings differ most: {percent(shares[0])} of the variance across,{" "}
            {percent(shares[1])} up.{" "}
            {map.workloads.length === 0
              ? "None of the managed workloads is on it: their agents began without the shared model."
              : ""}
          </p>
        </section>
        {looked === undefined ? null : <Kin item={looked} items={items} choose={choose} />}
      </div>
      <TrainingCurve curve={model.curve} />
    </>
  );
}

interface ChooserProps {
  readonly items: readonly Item[];
  readonly chosen: string;
  readonly choose: (id: string) => void;
}

function Chooser({ items, chosen, choose }: ChooserProps): ComponentChild {
  const managed = items.filter(({ traits }) => traits === null);
  const option = ({ id, title }: Item): ComponentChild => (
    <option key={id} value={id}>
      {title}
    </option>
  );
  return (
    <label>
      Look at{" "}
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        {managed.length === 0 ? null : <optgroup label="Managed here">{managed.map(option)}</optgroup>}
        <optgroup label="Learned on">{items.filter(({ traits }) => traits !== null).map(option)}</optgroup>
      </select>
    </label>
  );
}

interface KinProps {
  readonly item: Item;
  readonly items: readonly Item[];
  readonly choose: (id: string) => void;
}

/** Beside the map: what was chosen and whom it is like. */
function Kin({ item, items, choose }: KinProps): ComponentChild {
  return (
    <section class="card kin" aria-labelledby="kin" aria-live="polite">
      <p class="quiet">{item.traits === null ? "Managed here" : "Learned on"}</p>
      <h2 id="kin">{item.title}</h2>
      <p>{sentence(item.about)}</p>
      <h3>Nearest neighbours</h3>
      {item.nearest.length === 0 ? (
        <p class="quiet">None yet: it takes a few episodes to know it.</p>
      ) : (
        <ol>
          {item.nearest.map(({ name, similarity }) => {
            const other = items.find(({ id }) => id === name);
            return (
              <li key={name}>
                <button type="button" class="link" onClick={() => choose(name)} disabled={other === undefined}>
                  {other?.title ?? name}
                </button>
                <span class="similarity">{similarity.toFixed(2).replace("-", "−")}</span>
                <svg class="similarity-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={Math.max(0, 100 * similarity)} height="6" />
                </svg>
                <small>{other === undefined ? "" : shared(item, other)}</small>
              </li>
            );
          })}
        </ol>
      )}
      <p class="quiet">Similarity is the cosine from the middle of the pool: 1 is alike, 0 is no kin.</p>
    </section>
  );
}

/** A neighbour in a sentence; of two that were learned on, also what they have in common. */
function shared(item: Item, other: Item): string {
  if (item.traits === null || other.traits === null) return other.about;
  const same = [
    ...(item.traits.sensitivity === other.traits.sensitivity ? ["what it depends on"] : []),
    ...(item.traits.shape === other.traits.shape ? ["the shape of its load"] : []),
  ];
  return same.length === 0
    ? `${other.about}; nothing in common`
    : `${other.about}; has ${same.join(" and ")} in common`;
}

function sentence(text: string): string {
  const trimmed = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
