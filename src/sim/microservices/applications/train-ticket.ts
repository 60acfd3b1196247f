/**
 * Train-Ticket: 41 services.
 * 28 of them and their edges were observed in the data set nezha-traces; completed are the web front end, notification with
 * its broker, consignment and its prices, rebooking, route and travel plans, and five of the document stores that the
 * release of the dissertation's time gave each service. In the observed traces calls run one after another, so here too,
 * except where the sources ask in parallel (the two kinds of trains of a plan, the two kinds of orders of a security check).
 */
import { call, type MicroserviceApplication, type ServiceSpec, services } from "./application.ts";

// Own times: Nezha's median per edge less those of the calls below it. 150 ms of log-in are the hash of a password.
const all: readonly ServiceSpec[] = [
  ...services("dataset", [
    ["ts-gateway-service", "proxy", 1.5, 256],
    ["ts-auth-service", "compute", 150, 32],
    ["ts-verification-code-service", "java", 4, 16],
    ["ts-basic-service", "java", 14, 32],
    ["ts-price-service", "java", 4, 16],
    ["ts-route-service", "java", 6, 16],
    ["ts-station-service", "java", 2, 16],
    ["ts-train-service", "java", 2, 16],
    ["ts-cancel-service", "java", 12, 32],
    ["ts-inside-payment-service", "java", 15, 32],
    ["ts-order-service", "java", 3, 32],
    ["ts-order-other-service", "java", 3, 32],
    ["ts-user-service", "java", 4, 16],
    ["ts-execute-service", "java", 8, 16],
    ["ts-food-service", "java", 8, 16],
    ["ts-delivery-service", "java", 3, 16],
    ["ts-station-food-service", "java", 10, 16],
    ["ts-train-food-service", "java", 7, 16],
    ["ts-travel-service", "java", 10, 48],
    ["ts-travel2-service", "java", 8, 48],
    ["ts-preserve-service", "java", 30, 48],
    ["ts-preserve-other-service", "java", 30, 48],
    ["ts-payment-service", "java", 20, 16],
    ["ts-assurance-service", "java", 12, 16],
    ["ts-contacts-service", "java", 10, 16],
    ["ts-seat-service", "java", 10, 48],
    ["ts-security-service", "java", 8, 24],
    ["ts-config-service", "java", 2, 16],
  ]),
  ...services("completed", [
    ["ts-ui-dashboard", "proxy", 1, 256],
    ["ts-notification-service", "java", 6, 16],
    ["rabbitmq", "queue", 0.8, 16],
    ["ts-consign-service", "java", 7, 16],
    ["ts-consign-price-service", "java", 3, 16],
    ["ts-rebook-service", "java", 15, 24],
    ["ts-route-plan-service", "java", 12, 24],
    ["ts-travel-plan-service", "java", 10, 24],
    ["ts-order-mongo", "store", 2, 32],
    ["ts-order-other-mongo", "store", 2, 32],
    ["ts-auth-mongo", "store", 2, 32],
    ["ts-station-mongo", "store", 1.5, 32],
    ["ts-route-mongo", "store", 2, 32],
  ]),
];

const order = call("ts-order-service", [call("ts-order-mongo")]);
const orderOther = call("ts-order-other-service", [call("ts-order-other-mongo")]);
const station = call("ts-station-service", [call("ts-station-mongo")]);
const route = call("ts-route-service", [call("ts-route-mongo")]);
const basic = call("ts-basic-service", [station, call("ts-train-service"), route, call("ts-price-service")]);
const seats = call("ts-seat-service", [order, call("ts-config-service")]);
const otherSeats = call("ts-seat-service", [orderOther, call("ts-config-service")]);
const travel = call("ts-travel-service", [basic, route, seats]);
const travel2 = call("ts-travel2-service", [basic, otherSeats]);
const security = call("ts-security-service", [[order, orderOther]]);
const notify = call("rabbitmq", [call("ts-notification-service")]);
const food = call("ts-food-service", [
  call("ts-train-food-service"),
  call("ts-travel-service", [route]),
  call("ts-station-food-service"),
]);
const consign = call("ts-consign-service", [call("ts-consign-price-service")]);
const user = call("ts-user-service");

const web = (...stages: Parameters<typeof call>[1] & object[]) =>
  call("ts-ui-dashboard", [call("ts-gateway-service", stages)]);

const preserve = call(
  "ts-preserve-service",
  [
    security,
    call("ts-contacts-service"),
    travel,
    basic,
    seats,
    user,
    order,
    call("ts-assurance-service"),
    call("ts-food-service", [call("ts-delivery-service")]),
  ],
  { background: [notify] },
);

const preserveOther = call(
  "ts-preserve-other-service",
  [security, call("ts-contacts-service"), travel2, basic, otherSeats, user, orderOther, call("ts-assurance-service")],
  { background: [notify] },
);

const pay = call("ts-inside-payment-service", [order, call("ts-payment-service")]);

export const trainTicket: MicroserviceApplication = {
  name: "train-ticket",
  services: all,
  requests: [
    {
      name: "login",
      weight: 1,
      root: web(call("ts-auth-service", [call("ts-verification-code-service"), call("ts-auth-mongo")])),
    },
    { name: "search-fast-trains", weight: 1, root: web(travel) },
    { name: "search-other-trains", weight: 1, root: web(travel2) },
    {
      name: "plan-travel",
      weight: 1,
      root: web(call("ts-travel-plan-service", [call("ts-route-plan-service", [route, [travel, travel2]])])),
    },
    { name: "book", weight: 1, root: web(preserve) },
    { name: "book-other", weight: 1, root: web(preserveOther) },
    { name: "pay", weight: 1, root: web(pay) },
    {
      name: "cancel",
      weight: 1,
      root: web(
        call("ts-cancel-service", [order, orderOther, call("ts-inside-payment-service"), user], {
          background: [notify],
        }),
      ),
    },
    { name: "enter-station", weight: 1, root: web(call("ts-execute-service", [order, orderOther])) },
    { name: "order-food", weight: 1, root: web(food) },
    { name: "consign", weight: 1, root: web(consign) },
    {
      name: "rebook",
      weight: 1,
      root: web(call("ts-rebook-service", [order, travel, seats, pay])),
    },
  ],
};
