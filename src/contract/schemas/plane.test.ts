import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import type {
  Account,
  AgentDocument,
  BudgetDocument,
  CommandDone,
  DecisionDocument,
  EmbeddingsDocument,
  EventDocument,
  FaultName,
  FleetDocument,
  LiveUpdate,
  MetricsDocument,
  ModeName,
  OverviewDocument,
  Page,
  Problem,
  Sample,
  SeriesDocument,
  Severity,
  SloDocument,
  StreamMessages,
  StudyResult,
  StudySummary,
  TrajectoryDocument,
  WorkloadDocument,
} from "../index.ts";
import * as schemas from "./index.ts";

type Of<S extends z.ZodType> = z.output<S>;

test("every schema says exactly what the plain type of the contract says", () => {
  expectTypeOf<Of<typeof schemas.sloSchema>>().toEqualTypeOf<SloDocument>();
  expectTypeOf<Of<typeof schemas.modeSchema>>().toEqualTypeOf<ModeName>();
  expectTypeOf<Of<typeof schemas.faultSchema>>().toEqualTypeOf<FaultName>();
  expectTypeOf<Of<typeof schemas.severitySchema>>().toEqualTypeOf<Severity>();
  expectTypeOf<Of<typeof schemas.sampleSchema>>().toEqualTypeOf<Sample>();
  expectTypeOf<Of<typeof schemas.accountSchema>>().toEqualTypeOf<Account>();
  expectTypeOf<Of<typeof schemas.budgetSchema>>().toEqualTypeOf<BudgetDocument>();
  expectTypeOf<Of<typeof schemas.workloadSchema>>().toEqualTypeOf<WorkloadDocument>();
  expectTypeOf<Of<typeof schemas.seriesSchema>>().toEqualTypeOf<SeriesDocument>();
  expectTypeOf<Of<typeof schemas.decisionSchema>>().toEqualTypeOf<DecisionDocument>();
  expectTypeOf<Of<typeof schemas.agentSchema>>().toEqualTypeOf<AgentDocument>();
  expectTypeOf<Of<typeof schemas.eventSchema>>().toEqualTypeOf<EventDocument>();
  expectTypeOf<Of<typeof schemas.trajectorySchema>>().toEqualTypeOf<TrajectoryDocument>();
  expectTypeOf<Of<typeof schemas.overviewSchema>>().toEqualTypeOf<OverviewDocument>();
  expectTypeOf<Of<typeof schemas.metricsSchema>>().toEqualTypeOf<MetricsDocument>();
  expectTypeOf<Of<typeof schemas.studySummarySchema>>().toEqualTypeOf<StudySummary>();
  expectTypeOf<Of<typeof schemas.embeddingsSchema>>().toEqualTypeOf<EmbeddingsDocument>();
  expectTypeOf<Of<typeof schemas.fleetSchema>>().toEqualTypeOf<FleetDocument>();
  expectTypeOf<Of<typeof schemas.commandDoneSchema>>().toEqualTypeOf<CommandDone>();
  expectTypeOf<Of<typeof schemas.problemSchema>>().toEqualTypeOf<Problem>();
  expectTypeOf<Of<typeof schemas.liveUpdateSchema>>().toEqualTypeOf<LiveUpdate>();
  expectTypeOf<Of<typeof schemas.snapshotSchema>>().toEqualTypeOf<StreamMessages["snapshot"]>();
  expectTypeOf<Of<typeof schemas.updatesSchema>>().toEqualTypeOf<StreamMessages["updates"]>();
  expectTypeOf<Of<typeof schemas.laggedSchema>>().toEqualTypeOf<StreamMessages["lagged"]>();
  expectTypeOf<Of<ReturnType<typeof schemas.pageOf<typeof schemas.eventSchema>>>>().toEqualTypeOf<
    Page<EventDocument>
  >();
});

test("a study's document has all that the contract names, and may have further fields", () => {
  expectTypeOf<Of<typeof schemas.studyResultSchema>>().toEqualTypeOf<StudyResult>();
  const published = fileURLToPath(new URL("../../../docs/results/rl-cartpole.json", import.meta.url));
  const document: unknown = JSON.parse(readFileSync(published, "utf8"));
  expect(schemas.studyResultSchema.safeParse(document)).toMatchObject({ success: true });
});

test("a field that the contract does not name is refused", () => {
  expect(schemas.commandDoneSchema.safeParse({ revision: 1 }).success).toBe(true);
  expect(schemas.commandDoneSchema.safeParse({ revision: 1, more: 2 }).success).toBe(false);
});
