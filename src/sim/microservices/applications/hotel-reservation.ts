/**
 * Hotel Reservation of DeathStarBench: 15 services, all in the data set `topologies`.
 * That set has 22, of a later release. Left out, to arrive at the 15 of the dissertation: attractions and review with their
 * three stores and cache (added after it was written), and mongodb-geo and mongodb-recommendation, which are read once at
 * start-up and by no request. The same is true of mongodb-user in the released code; it stays, asked by log-ins.
 */
import { call, lookup, type MicroserviceApplication, type ServiceSpec, services } from "./application.ts";

// Own times: assumed, Go services over gRPC (DeathStarBench); geo and recommendation walk through indexes in memory.
const all: readonly ServiceSpec[] = services("dataset", [
  ["frontend", "proxy", 1.2, 256],
  ["search", "compute", 1.6, 32],
  ["geo", "memory", 2.2, 24],
  ["rate", "compute", 1.8, 24],
  ["profile", "compute", 1.8, 24],
  ["recommendation", "memory", 4, 24],
  ["user", "compute", 1.5, 16],
  ["reservation", "compute", 2.2, 24],
  ["memcached-profile", "cache", 0.4, 8, 0.9],
  ["memcached-rate", "cache", 0.4, 8, 0.9],
  ["memcached-reservation", "cache", 0.4, 8, 0.8],
  ["mongodb-profile", "store", 2.5, 32],
  ["mongodb-rate", "store", 2.5, 32],
  ["mongodb-reservation", "store", 2.5, 32],
  ["mongodb-user", "store", 2, 32],
]);

const profiles = call("profile", [...lookup("memcached-profile", "mongodb-profile")]);
const availability = call("reservation", [...lookup("memcached-reservation", "mongodb-reservation")]);
const login = call("user", [call("mongodb-user")]);

export const hotelReservation: MicroserviceApplication = {
  name: "hotel-reservation",
  services: all,
  requests: [
    {
      name: "search-hotels",
      weight: 1,
      root: call("frontend", [
        call("search", [call("geo"), call("rate", [...lookup("memcached-rate", "mongodb-rate")])]),
        availability,
        profiles,
      ]),
    },
    { name: "recommend", weight: 1, root: call("frontend", [call("recommendation"), profiles]) },
    { name: "login", weight: 1, root: call("frontend", [login]) },
    {
      name: "reserve",
      weight: 1,
      root: call("frontend", [
        login,
        call("reservation", [
          ...lookup("memcached-reservation", "mongodb-reservation"),
          [call("mongodb-reservation", [], { size: 1.5 }), call("memcached-reservation")],
        ]),
      ]),
    },
  ],
};
