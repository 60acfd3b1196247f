/** The applications by name. */
import { CodedError, failure } from "../../../base/index.ts";
import type { MicroserviceApplication } from "./application.ts";
import { hotelReservation } from "./hotel-reservation.ts";
import { mediaService } from "./media.ts";
import { socialNetwork } from "./social-network.ts";
import { trainTicket } from "./train-ticket.ts";

export const applications: readonly MicroserviceApplication[] = [
  socialNetwork,
  mediaService,
  hotelReservation,
  trainTicket,
];

export function applicationNamed(name: string): MicroserviceApplication {
  const found = applications.find((application) => application.name === name);
  if (found !== undefined) return found;
  const known = applications.map((application) => application.name).join(", ");
  throw new CodedError(
    failure("microservices.unknown-application", `there is no application '${name}': choose one of ${known}`),
  );
}
