/**
 * The machines of a fleet: how busy each is, who works there, who loses how much of its speed to whom.
 * Not here: how losses are added up and said (words/fleet.ts).
 */
import type { ComponentChild } from "preact";
import type { FleetHost } from "../../../src/contract/index.ts";
import { hrefOf } from "../router.ts";
import { type FleetProps, type Lost, lostBy, NOTICED } from "../words/fleet.ts";
import { brief, bytes, elapsed, percent } from "../words/format.ts";

/** How many colours there are (styles/map.css); names say what colours only repeat. */
const KINDS = 6;

export function FleetHosts({ fleet, titleOf }: FleetProps): ComponentChild {
  const { hosts, latelyMs } = fleet;
  return (
    <section aria-labelledby="hosts-title">
      <h2 id="hosts-title">Who is in whose way, on which machine</h2>
      {hosts === null ? (
        <p class="quiet">This world does not tell which machines its workloads share.</p>
      ) : (
        <>
          <p class="quiet">
            Cores in use, and how much of its speed each loses to whom, over the last {elapsed(latelyMs)}. In bursts of
            calls a machine runs short that is half empty on average.
          </p>
          <ul class="hosts">
            {hosts.map((host) => (
              <Host key={host.name} host={host} titleOf={titleOf} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Host({ host, titleOf }: { host: FleetHost; titleOf: FleetProps["titleOf"] }): ComponentChild {
  const { name, cores, memory, reserved, tenants, losses } = host;
  const used = tenants.reduce((sum, tenant) => sum + (tenant.used ?? 0), 0);
  const isTold = tenants.some((tenant) => tenant.used !== null);
  return (
    <li class="card host">
      <h3>
        {name}
        <span class="quiet">{isTold ? `${brief(used)} of ${brief(cores)} cores` : `${brief(cores)} cores`}</span>
      </h3>
      {isTold ? <Bar host={host} /> : null}
      {tenants.length === 0 ? <p class="quiet">Nobody has containers here.</p> : null}
      <ul class="tenants">
        {tenants.map(({ workload, active, used: own }, index) => (
          <li key={workload}>
            <span class={`swatch kind-${index % KINDS}`} aria-hidden="true" />
            <a href={hrefOf({ view: "workload", id: workload })}>{titleOf(workload)}</a>
            <span class="amount">{own === null ? "" : `${brief(own)} cores`}</span>
            <span class="amount containers">{active === 1 ? "1 container" : `${active} containers`}</span>
            <Loss lost={lostBy(workload, host)} workload={workload} titleOf={titleOf} />
          </li>
        ))}
      </ul>
      {losses === null && tenants.length > 0 ? <p class="quiet">Who holds up whom here is not told.</p> : null}
      <p class="quiet memory">
        {bytes(reserved)} of {bytes(memory)} of memory reserved
      </p>
    </li>
  );
}

function Bar({ host: { cores, tenants } }: { host: FleetHost }): ComponentChild {
  let from = 0;
  return (
    <svg class="host-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="all" width="100" height="10" />
      {tenants.map(({ workload, used }, index) => {
        const width = (100 * (used ?? 0)) / cores;
        const left = from;
        from += width;
        return (
          <rect
            key={workload}
            class={`kind-${index % KINDS}`}
            x={left.toFixed(2)}
            width={Math.max(0, width - 0.4).toFixed(2)}
            height="10"
          />
        );
      })}
    </svg>
  );
}

interface LossProps {
  readonly lost: Lost | null;
  readonly workload: string;
  readonly titleOf: FleetProps["titleOf"];
}

function Loss({ lost, workload, titleOf }: LossProps): ComponentChild {
  if (lost === null) return null;
  if (lost.share < NOTICED) return <span class="loss none">full speed</span>;
  const nameOf = (by: string | null): string =>
    by === null ? "starting containers" : by === workload ? "itself" : titleOf(by);
  const to = lost.to.filter(({ share }) => share >= NOTICED);
  return (
    <>
      <strong class="loss some">▼ loses {percent(lost.share)}</strong>
      {to.length === 0 ? null : (
        <span class="lost-to">
          to{" "}
          {to.map(({ by, share }, index) => (
            <>
              {index === 0 ? "" : ", "}
              {by === null || by === workload ? nameOf(by) : <b>{nameOf(by)}</b>} {percent(share)}
            </>
          ))}
          <small class="quiet">{lost.of}</small>
        </span>
      )}
    </>
  );
}
