/**
 * Media Service of DeathStarBench: 38 services.
 * 18 of them are in the data set `topologies`; completed are the caches and stores of the released compose files (14), and
 * rentals, payment, streaming with its store, recommender and search (of the figure in the ASPLOS 2019 paper).
 * Of a review, the parts are uploaded to compose-review-service in parallel and the last to come has it stored. The chain
 * movie-id → rating is the longest, so the storing hangs there: a workflow is a tree and has no join of that kind.
 */
import { call, lookup, type MicroserviceApplication, type ServiceSpec, services } from "./application.ts";

// Own times: assumed, as for Social Network; video and its store are larger.
const all: readonly ServiceSpec[] = [
  ...services("dataset", [
    ["nginx-web-server", "proxy", 0.8, 256],
    ["compose-review-service", "compute", 2.2, 32],
    ["movie-id-service", "compute", 1.4, 16],
    ["movie-review-service", "compute", 1.5, 16],
    ["review-storage-service", "compute", 1.6, 24],
    ["user-review-service", "compute", 1.5, 16],
    ["rating-service", "compute", 1.2, 16],
    ["page-service", "compute", 2.5, 24],
    ["cast-info-service", "compute", 1.6, 16],
    ["movie-info-service", "compute", 1.6, 16],
    ["plot-service", "compute", 1.2, 16],
    ["text-service", "compute", 2.5, 16],
    ["unique-id-service", "compute", 0.6, 16],
    ["user-service", "compute", 1.5, 16],
    ["compose-review-memcached", "cache", 0.3, 8],
    ["movie-review-redis", "cache", 0.4, 8, 0.85],
    ["rating-redis", "cache", 0.4, 8],
    ["user-review-redis", "cache", 0.4, 8, 0.85],
  ]),
  ...services("completed", [
    ["movie-id-memcached", "cache", 0.3, 8, 0.9],
    ["movie-id-mongodb", "store", 2, 32],
    ["review-storage-memcached", "cache", 0.3, 8, 0.85],
    ["review-storage-mongodb", "store", 2.5, 32],
    ["movie-review-mongodb", "store", 2.2, 32],
    ["user-review-mongodb", "store", 2.2, 32],
    ["user-memcached", "cache", 0.3, 8, 0.9],
    ["user-mongodb", "store", 2, 32],
    ["cast-info-memcached", "cache", 0.4, 8, 0.85],
    ["cast-info-mongodb", "store", 2.5, 32],
    ["plot-memcached", "cache", 0.3, 8, 0.9],
    ["plot-mongodb", "store", 2, 32],
    ["movie-info-memcached", "cache", 0.4, 8, 0.85],
    ["movie-info-mongodb", "store", 2.5, 32],
    ["rent-movie-service", "compute", 2, 16],
    ["payment-auth-service", "compute", 4, 16],
    ["video-streaming-service", "media", 8, 32],
    ["video-store", "store", 9, 32],
    ["recommender-service", "memory", 5, 16],
    ["search-service", "memory", 5, 16],
  ]),
];

const upload = call("compose-review-service", [call("compose-review-memcached")]);
const store = call("review-storage-service", [call("review-storage-mongodb")]);
const compose = call("compose-review-service", [
  call("compose-review-memcached"),
  [
    store,
    call("movie-review-service", [[call("movie-review-mongodb"), call("movie-review-redis")]]),
    call("user-review-service", [[call("user-review-mongodb"), call("user-review-redis")]]),
  ],
]);
const user = call("user-service", [...lookup("user-memcached", "user-mongodb")]);
const castInfo = call("cast-info-service", [...lookup("cast-info-memcached", "cast-info-mongodb")]);
const plot = call("plot-service", [...lookup("plot-memcached", "plot-mongodb")]);
const movieInfo = call("movie-info-service", [...lookup("movie-info-memcached", "movie-info-mongodb")]);
const movieId = [...lookup("movie-id-memcached", "movie-id-mongodb")];
const readReviews = call("review-storage-service", [...lookup("review-storage-memcached", "review-storage-mongodb")]);
const movieReviews = call("movie-review-service", [
  ...lookup("movie-review-redis", "movie-review-mongodb"),
  readReviews,
]);

export const mediaService: MicroserviceApplication = {
  name: "media",
  services: all,
  requests: [
    {
      name: "compose-review",
      weight: 1,
      root: call("nginx-web-server", [
        [
          call("unique-id-service", [upload]),
          call("movie-id-service", [
            ...movieId,
            [upload, call("rating-service", [compose], { background: [call("rating-redis")] })],
          ]),
          call("text-service", [upload]),
          call("user-service", [...lookup("user-memcached", "user-mongodb"), upload]),
        ],
      ]),
    },
    {
      name: "read-page",
      weight: 1,
      root: call("nginx-web-server", [
        [call("page-service", [movieInfo, [castInfo, plot, movieReviews]]), call("recommender-service")],
      ]),
    },
    { name: "read-cast-info", weight: 1, root: call("nginx-web-server", [castInfo]) },
    { name: "read-plot", weight: 1, root: call("nginx-web-server", [plot]) },
    { name: "read-movie-info", weight: 1, root: call("nginx-web-server", [movieInfo]) },
    {
      name: "read-user-reviews",
      weight: 1,
      root: call("nginx-web-server", [
        user,
        call("user-review-service", [...lookup("user-review-redis", "user-review-mongodb"), readReviews]),
      ]),
    },
    { name: "search", weight: 1, root: call("nginx-web-server", [call("search-service", [movieInfo])]) },
    {
      name: "rent-movie",
      weight: 1,
      root: call("nginx-web-server", [
        user,
        call("rent-movie-service", [call("payment-auth-service"), call("movie-id-service", movieId)]),
      ]),
    },
    {
      name: "stream-video",
      weight: 1,
      root: call("nginx-web-server", [call("video-streaming-service", [call("video-store")])]),
    },
  ],
};
