/**
 * Social Network of DeathStarBench: 36 services.
 * 25 of them and most edges are in the data set `topologies`; completed are the media stores and their front end and the
 * Redis of composed posts (of the released compose files), and ads, search with its index, recommender, favourites,
 * blocked users and single posts (of the application's figure in the ASPLOS 2019 paper).
 * Not used: the edge user-service → social-graph-service (registration), which together with its opposite would let two
 * pools wait for each other.
 */
import { call, lookup, type MicroserviceApplication, type ServiceSpec, services } from "./application.ts";

// Own times: assumed, within what DeathStarBench's traces show for C++ services (tenths of a millisecond to a few).
const all: readonly ServiceSpec[] = [
  ...services("dataset", [
    ["nginx-web-server", "proxy", 0.8, 256],
    ["compose-post-service", "compute", 3, 32],
    ["home-timeline-service", "compute", 1.6, 32],
    ["user-timeline-service", "compute", 1.6, 32],
    ["post-storage-service", "compute", 1.8, 32],
    ["media-service", "media", 4, 16],
    ["text-service", "compute", 3.5, 16],
    ["unique-id-service", "compute", 0.6, 16],
    ["url-shorten-service", "compute", 1.5, 16],
    ["user-mention-service", "compute", 1.4, 16],
    ["user-service", "compute", 1.5, 16],
    ["social-graph-service", "memory", 1.8, 24],
    ["write-home-timeline-service", "compute", 1.6, 16],
    ["home-timeline-redis", "cache", 0.4, 8],
    ["user-timeline-redis", "cache", 0.4, 8, 0.85],
    ["social-graph-redis", "cache", 0.5, 8, 0.9],
    ["post-storage-memcached", "cache", 0.3, 8, 0.9],
    ["url-shorten-memcached", "cache", 0.3, 8, 0.8],
    ["user-memcached", "cache", 0.3, 8, 0.9],
    ["post-storage-mongodb", "store", 2.5, 32],
    ["user-timeline-mongodb", "store", 2.2, 32],
    ["social-graph-mongodb", "store", 2.2, 32],
    ["url-shorten-mongodb", "store", 2, 32],
    ["user-mongodb", "store", 2, 32],
    ["write-home-timeline-rabbitmq", "queue", 0.8, 16],
  ]),
  ...services("completed", [
    ["compose-post-redis", "cache", 0.4, 8],
    ["media-frontend", "proxy", 1, 64],
    ["media-memcached", "cache", 0.5, 8, 0.7],
    ["media-mongodb", "store", 3.5, 32],
    ["read-post-service", "compute", 1.2, 16],
    ["search-service", "compute", 2, 16],
    ["search-index", "memory", 6, 16],
    ["ads-service", "memory", 3, 16],
    ["recommender-service", "memory", 5, 16],
    ["favorite-service", "compute", 1, 16],
    ["blocked-users-service", "compute", 0.8, 16],
  ]),
];

const user = call("user-service", [...lookup("user-memcached", "user-mongodb")]);
const readPosts = (size: number) =>
  call("post-storage-service", [...lookup("post-storage-memcached", "post-storage-mongodb", { size })], { size });
const followers = call("social-graph-service", [...lookup("social-graph-redis", "social-graph-mongodb")]);

const text = call("text-service", [
  [
    call("url-shorten-service", [...lookup("url-shorten-memcached", "url-shorten-mongodb")]),
    call("user-mention-service", [...lookup("user-memcached", "user-mongodb")]),
  ],
]);

// Fig. 2.1: media, user, id and text in parallel; stored; timelines of followers are written in the background.
const composePost = call(
  "compose-post-service",
  [
    [call("media-service"), user, call("unique-id-service"), text],
    call("compose-post-redis"),
    [
      call("post-storage-service", [call("post-storage-mongodb")]),
      call("user-timeline-service", [[call("user-timeline-mongodb"), call("user-timeline-redis")]]),
      call("home-timeline-service", [followers, call("home-timeline-redis")]),
    ],
  ],
  {
    background: [
      call("write-home-timeline-service", [
        call("write-home-timeline-rabbitmq"),
        followers,
        call("home-timeline-redis", [], { size: 2 }),
      ]),
    ],
  },
);

export const socialNetwork: MicroserviceApplication = {
  name: "social-network",
  services: all,
  requests: [
    { name: "compose-post", weight: 1, root: call("nginx-web-server", [composePost]) },
    {
      name: "read-home-timeline",
      weight: 1,
      root: call("nginx-web-server", [
        [
          call("home-timeline-service", [call("home-timeline-redis"), call("blocked-users-service"), readPosts(1.5)]),
          call("ads-service"),
        ],
      ]),
    },
    {
      name: "read-user-timeline",
      weight: 1,
      root: call("nginx-web-server", [
        call("user-timeline-service", [...lookup("user-timeline-redis", "user-timeline-mongodb"), readPosts(1.5)]),
      ]),
    },
    {
      name: "read-post",
      weight: 1,
      root: call("nginx-web-server", [
        call("read-post-service", [[readPosts(0.7), call("favorite-service", [call("user-memcached")])]]),
      ]),
    },
    { name: "login", weight: 1, root: call("nginx-web-server", [user]) },
    {
      name: "follow",
      weight: 1,
      root: call("nginx-web-server", [
        call("social-graph-service", [user, [call("social-graph-mongodb"), call("social-graph-redis")]]),
      ]),
    },
    {
      name: "search",
      weight: 1,
      root: call("nginx-web-server", [
        [call("search-service", [call("search-index"), readPosts(1)]), call("recommender-service")],
      ]),
    },
    {
      name: "read-media",
      weight: 1,
      root: call("nginx-web-server", [call("media-frontend", [...lookup("media-memcached", "media-mongodb")])]),
    },
  ],
};
