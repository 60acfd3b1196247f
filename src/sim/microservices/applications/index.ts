/** The four applications of the dissertation, and what applications are made of. */
export type { Call, MicroserviceApplication, ServiceSpec } from "./application.ts";
export { call, edgesOf } from "./application.ts";
export { applicationNamed, applications } from "./catalogue.ts";
export { hotelReservation } from "./hotel-reservation.ts";
export { mediaService } from "./media.ts";
export { socialNetwork } from "./social-network.ts";
export { trainTicket } from "./train-ticket.ts";
export { bottomUp, parseApplication } from "./validate.ts";
