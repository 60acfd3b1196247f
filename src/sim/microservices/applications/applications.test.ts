import { describe, expect, test } from "vitest";
import {
  applicationNamed,
  applications,
  bottomUp,
  call,
  edgesOf,
  hotelReservation,
  type MicroserviceApplication,
  mediaService,
  parseApplication,
  socialNetwork,
  trainTicket,
} from "./index.ts";

const failureOf = (application: MicroserviceApplication): string => {
  const parsed = parseApplication(application);
  return parsed.ok ? "accepted" : parsed.failure.message;
};

test("the four applications have the dissertation's 36, 38, 15 and 41 services", () => {
  expect(applications.map(({ services }) => services.length)).toEqual([36, 38, 15, 41]);
});

test("25, 18, 15 and 28 of them are in the data set, the others are marked as completed", () => {
  const known = applications.map(({ services }) => services.filter(({ origin }) => origin === "dataset").length);
  expect(known).toEqual([25, 18, 15, 28]);
});

test("every application can be run", () => {
  for (const application of applications) expect(failureOf(application)).toBe("accepted");
});

test("the three workflow kinds are there: stages in a row, calls side by side, calls nobody waits for", () => {
  const composed = socialNetwork.requests[0]?.root.stages[0]?.[0];
  expect(composed?.service).toBe("compose-post-service");
  expect(composed?.stages.length).toBe(3);
  expect(composed?.stages[0]?.map(({ service }) => service)).toEqual([
    "media-service",
    "user-service",
    "unique-id-service",
    "text-service",
  ]);
  expect(composed?.background.map(({ service }) => service)).toEqual(["write-home-timeline-service"]);
});

test("edges between services of the data set are edges of the data set, or explained", () => {
  // Who else calls whom, because a call goes through a queue, or because a join hangs elsewhere.
  const explained = new Set([
    "compose-post-service write-home-timeline-service",
    "nginx-web-server user-review-service",
    "nginx-web-server page-service",
  ]);
  const listed: Record<string, string> = {
    "social-network":
      "compose-post-service>home-timeline-service,media-service,post-storage-service,text-service,unique-id-service,user-service,user-timeline-service home-timeline-service>post-storage-service,social-graph-service,home-timeline-redis post-storage-service>post-storage-memcached,post-storage-mongodb social-graph-service>user-service,social-graph-mongodb,social-graph-redis text-service>url-shorten-service,user-mention-service url-shorten-service>url-shorten-memcached,url-shorten-mongodb user-mention-service>user-memcached,user-mongodb user-service>social-graph-service,user-memcached,user-mongodb user-timeline-service>post-storage-service,user-timeline-mongodb,user-timeline-redis write-home-timeline-service>social-graph-service,home-timeline-redis,write-home-timeline-rabbitmq nginx-web-server>compose-post-service,home-timeline-service,social-graph-service,user-service,user-timeline-service",
    media:
      "compose-review-service>movie-review-service,review-storage-service,user-review-service,compose-review-memcached movie-id-service>compose-review-service,rating-service movie-review-service>review-storage-service,movie-review-redis page-service>cast-info-service,movie-info-service,movie-review-service,plot-service rating-service>compose-review-service,rating-redis text-service>compose-review-service unique-id-service>compose-review-service user-review-service>review-storage-service,user-review-redis user-service>compose-review-service nginx-web-server>cast-info-service,movie-id-service,movie-info-service,plot-service,text-service,unique-id-service,user-service",
  };
  for (const application of [socialNetwork, mediaService]) {
    const known = new Set<string>();
    for (const row of (listed[application.name] as string).split(" ")) {
      const [from, to] = row.split(">") as [string, string];
      for (const each of to.split(",")) known.add(`${from} ${each}`);
    }
    const origin = new Map(application.services.map((service) => [service.name, service.origin]));
    const strangers = edgesOf(application)
      .filter(([from, to]) => origin.get(from) === "dataset" && origin.get(to) === "dataset")
      .map(([from, to]) => `${from} ${to}`)
      .filter((edge) => !known.has(edge) && !explained.has(edge));
    expect(strangers).toEqual([]);
  }
});

test("callees come before callers", () => {
  const order = bottomUp(hotelReservation) as readonly string[];
  expect(order).toHaveLength(15);
  for (const [from, to] of edgesOf(hotelReservation)) expect(order.indexOf(to)).toBeLessThan(order.indexOf(from));
});

test("an application is found by its name, and a wrong name lists the right ones", () => {
  expect(applicationNamed("train-ticket")).toBe(trainTicket);
  expect(() => applicationNamed("train")).toThrow(
    "there is no application 'train': choose one of social-network, media, hotel-reservation, train-ticket",
  );
});

describe("what cannot be run is refused with the reason", () => {
  const service = { name: "a", origin: "dataset", profile: "compute", work: 1, threads: 1 } as const;
  const tiny: MicroserviceApplication = {
    name: "tiny",
    services: [service],
    requests: [{ name: "r", weight: 1, root: call("a") }],
  };

  test("nothing is wrong with the smallest application", () => {
    expect(failureOf(tiny)).toBe("accepted");
  });

  test("a call to nobody, an empty pool and a wrong hit ratio are all named at once", () => {
    const message = failureOf({
      ...tiny,
      services: [{ ...service, threads: 0, hitRatio: 2 }],
      requests: [{ name: "r", weight: 1, root: call("a", [call("b")]) }],
    });
    expect(message).toContain("service a has 0 threads: give a whole number from 1");
    expect(message).toContain("service a finds a share of 2");
    expect(message).toContain("request r calls b, which is not among the services: add it");
  });

  test("services that wait for each other in a circle", () => {
    const two = { ...tiny, services: [service, { ...service, name: "b" }] };
    const requests = [{ name: "r", weight: 1, root: call("a", [call("b", [call("a")])]) }];
    expect(failureOf({ ...two, requests })).toContain("wait for each other in a circle (a → b → a): break it");
  });

  test("a service that no request reaches", () => {
    expect(failureOf({ ...tiny, services: [service, { ...service, name: "idle" }] })).toContain(
      "no request reaches service idle",
    );
  });

  test("a miss of a cache that was not asked before", () => {
    const services = [service, { ...service, name: "c", hitRatio: 0.5 }, { ...service, name: "s" }];
    const root = call("a", [{ ...call("s"), onMissOf: "c" }, call("c")]);
    expect(failureOf({ ...tiny, services, requests: [{ name: "r", weight: 1, root }] })).toContain(
      "request r calls s on a miss of c, which a has not asked in an earlier stage",
    );
  });
});
