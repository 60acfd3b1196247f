/** The frame around every view: navigation, the state of the connection, the theme, the dialog. */
import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { Title } from "./parts/bits.tsx";
import { ConfirmDialog } from "./parts/confirm.tsx";
import { Notices } from "./parts/notices.tsx";
import { SloDialog } from "./parts/slo-dialog.tsx";
import { setToken } from "./plane/client.ts";
import { connection } from "./plane/stream.ts";
import { hrefOf, type KnownRoute, type Route, route } from "./router.ts";
import { reconnect, store } from "./state.ts";
import { isDark, toggleTheme } from "./theme.ts";
import { AgentView } from "./views/agent.tsx";
import { EventsView } from "./views/events.tsx";
import { FleetView } from "./views/fleet.tsx";
import { MapView } from "./views/map.tsx";
import { Overview } from "./views/overview.tsx";
import { ServicesView } from "./views/services.tsx";
import { StudiesView } from "./views/studies.tsx";
import { WorkloadView } from "./views/workload.tsx";
import { dayAndClock } from "./words/format.ts";
import { pageOf } from "./words/tasks.ts";

export function App(): ComponentChild {
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it leads into this page, whose hash belongs to the router */}
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#/">
          <Mark />
          Coxswain
        </a>
        <nav aria-label="Main">
          <Tab to={{ view: "overview" }}>Overview</Tab>
          {store.hasFleet.value ? <Tab to={{ view: "fleet" }}>Fleet</Tab> : null}
          <Tab to={{ view: "services", trace: null }}>Services</Tab>
          <Tab to={{ view: "events", workload: null }}>Events</Tab>
          <Tab to={{ view: "map", chosen: null }}>Map</Tab>
          <Tab to={{ view: "studies", study: null }}>Studies</Tab>
        </nav>
        <ConnectionState />
        <button
          type="button"
          class="icon"
          onClick={toggleTheme}
          aria-label={isDark.value ? "Light theme" : "Dark theme"}
        >
          <span aria-hidden="true">{isDark.value ? "☀" : "☾"}</span>
        </button>
      </header>
      <ConnectionBanner />
      <main id="main" tabIndex={-1}>
        <CurrentView />
      </main>
      <Notices />
      <ConfirmDialog />
      <SloDialog />
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Mark(): ComponentChild {
  return (
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <circle cx="12" cy="12" r="9.5" fill="none" stroke="currentColor" stroke-width="2" />
      <path d="M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4" stroke="currentColor" stroke-width="1.4" />
      <circle cx="12" cy="12" r="3.2" fill="currentColor" />
    </svg>
  );
}

/** The view that a route belongs to: a workload and its agent to the one that shows their task. */
function viewOf(now: Route): Route["view"] {
  if (now.view !== "workload" && now.view !== "agent") return now.view;
  const workload = now.view === "workload" ? now.id : store.workloadOf(now.id);
  return pageOf(store.cells.value.get(workload ?? "")?.task ?? "");
}

function Tab(props: { to: KnownRoute; children: string }): ComponentChild {
  const isHere = viewOf(route.value) === props.to.view;
  return (
    <a href={hrefOf(props.to)} class={isHere ? "here" : ""} aria-current={isHere ? "page" : undefined}>
      {props.children}
    </a>
  );
}

function ConnectionState(): ComponentChild {
  const state = connection.value;
  const words = {
    connecting: "Connecting",
    live: "Live",
    lost: "Disconnected",
    "token-wanted": "Signed out",
  }[state.kind];
  return (
    <p class={`connection ${state.kind}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{words}</span>
      {state.kind === "live" ? <WorldClock /> : null}
    </p>
  );
}

function WorldClock(): ComponentChild {
  const world = store.world.value;
  return (
    <span class="world quiet">
      {" "}
      cluster time {dayAndClock(store.at.value)}
      {world !== null && Math.round(world.speed) > 1 ? `, ${Math.round(world.speed)}× as fast as yours` : ""}
    </span>
  );
}

function ConnectionBanner(): ComponentChild {
  const state = connection.value;
  if (state.kind === "token-wanted") return <SignIn why={state.why} />;
  if (state.kind !== "lost") return null;
  const seconds = Math.ceil(state.waitMs / 1000);
  return (
    <div class="banner" role="alert">
      <p>
        <strong>Not connected.</strong> {state.why}{" "}
        {store.hasSnapshot.value ? `What you see is from ${dayAndClock(store.at.value)}. ` : ""}
        Trying again every {seconds === 1 ? "second" : `${seconds} seconds`}.
      </p>
      <button type="button" onClick={reconnect}>
        Try now
      </button>
    </div>
  );
}

function SignIn({ why }: { why: string }): ComponentChild {
  const [typed, setTyped] = useState("");
  return (
    <form
      class="banner"
      aria-label="Sign in"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(typed.trim());
        reconnect();
      }}
    >
      <p>
        <strong>A token is needed.</strong> {why}
      </p>
      <label>
        Token{" "}
        <input
          type="password"
          autocomplete="off"
          required
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        Connect
      </button>
    </form>
  );
}

function CurrentView(): ComponentChild {
  const now = route.value;
  switch (now.view) {
    case "overview":
      return <Overview />;
    case "workload":
      return <WorkloadView key={now.id} id={now.id} />;
    case "agent":
      return <AgentView key={now.id} id={now.id} />;
    case "events":
      return <EventsView workload={now.workload} />;
    case "services":
      return <ServicesView trace={now.trace} />;
    case "fleet":
      return <FleetView />;
    case "map":
      return <MapView chosen={now.chosen} />;
    case "studies":
      return <StudiesView study={now.study} />;
    case "unknown":
      return (
        <>
          <Title>There is nothing at this address</Title>
          <p>
            <code>{now.address}</code> is no view of this page. <a href="#/">Back to the overview</a>
          </p>
        </>
      );
  }
}
