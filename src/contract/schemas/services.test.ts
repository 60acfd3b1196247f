import { expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type {
  ActingDone,
  AnomalyDone,
  AnomalyWish,
  InstanceDocument,
  PathsDocument,
  RequestDocument,
  RequestSloDone,
  ServiceGraphDocument,
  ServicesDocument,
  SuspectsDocument,
  TraceDocument,
  TraceSummaryDocument,
} from "../index.ts";
import type * as schemas from "./services.ts";

type Of<S extends z.ZodType> = z.output<S>;

test("every schema of services says exactly what the plain type of the contract says", () => {
  expectTypeOf<Of<typeof schemas.servicesSchema>>().toEqualTypeOf<ServicesDocument>();
  expectTypeOf<Of<typeof schemas.graphSchema>>().toEqualTypeOf<ServiceGraphDocument>();
  expectTypeOf<Of<typeof schemas.suspectsSchema>>().toEqualTypeOf<SuspectsDocument>();
  expectTypeOf<Of<typeof schemas.instanceSchema>>().toEqualTypeOf<InstanceDocument>();
  expectTypeOf<Of<typeof schemas.pathsSchema>>().toEqualTypeOf<PathsDocument>();
  expectTypeOf<Of<typeof schemas.traceSummarySchema>>().toEqualTypeOf<TraceSummaryDocument>();
  expectTypeOf<Of<typeof schemas.traceSchema>>().toEqualTypeOf<TraceDocument>();
  expectTypeOf<Of<typeof schemas.anomalyWishSchema>>().toEqualTypeOf<AnomalyWish>();
  expectTypeOf<Of<typeof schemas.actingDoneSchema>>().toEqualTypeOf<ActingDone>();
  expectTypeOf<Of<typeof schemas.requestSchema>>().toEqualTypeOf<RequestDocument>();
  expectTypeOf<Of<typeof schemas.requestSloSchema>>().toEqualTypeOf<RequestSloDone>();
  expectTypeOf<Of<typeof schemas.anomalyDoneSchema>>().toEqualTypeOf<AnomalyDone>();
});
