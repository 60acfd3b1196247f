/**
 * Every study by its id. A study that is not listed here does not exist for `coxswain reproduce`;
 * a worker thread finds its job's study here too, since functions cannot cross threads.
 */

import { awareAdaptation } from "./aware-adaptation.ts";
import { awareBootstrap } from "./aware-bootstrap.ts";
import { awareCharacterization } from "./aware-characterization.ts";
import { awareEmbedding } from "./aware-embedding.ts";
import { awareEndToEnd } from "./aware-endtoend.ts";
import { awareHeadroom } from "./aware-headroom.ts";
import { awareSavings } from "./aware-savings.ts";
import { awareSensitivity } from "./aware-sensitivity.ts";
import { awareServing } from "./aware-serving.ts";
import { firmBaselines } from "./firm-baselines.ts";
import { firmEndToEnd } from "./firm-endtoend.ts";
import { firmInsights } from "./firm-insights.ts";
import { firmLocalization } from "./firm-localization.ts";
import { firmMitigation } from "./firm-mitigation.ts";
import { firmTraces } from "./firm-traces.ts";
import { firmTraining } from "./firm-training.ts";
import { rlAcrobot } from "./rl-acrobot.ts";
import { rlCartPole } from "./rl-cartpole.ts";
import { rlMountainCar } from "./rl-mountaincar.ts";
import { rlPendulum } from "./rl-pendulum.ts";
import { simppoAttempts } from "./simppo-attempts.ts";
import { simppoChurn } from "./simppo-churn.ts";
import { simppoInterference } from "./simppo-interference.ts";
import { simppoMultitenant } from "./simppo-multitenant.ts";
import { simppoOverhead } from "./simppo-overhead.ts";
import { simppoScale } from "./simppo-scale.ts";
import { simppoServing } from "./simppo-serving.ts";
import { simppoSingle } from "./simppo-single.ts";
import type { Study } from "./study.ts";
import { worldCluster } from "./world-cluster.ts";

export const studies: readonly Study[] = [
  rlCartPole,
  rlPendulum,
  rlAcrobot,
  rlMountainCar,
  worldCluster,
  awareHeadroom,
  awareSavings,
  awareCharacterization,
  awareBootstrap,
  awareServing,
  awareEndToEnd,
  awareEmbedding,
  awareAdaptation,
  awareSensitivity,
  firmTraining,
  firmLocalization,
  firmTraces,
  firmInsights,
  firmMitigation,
  firmEndToEnd,
  firmBaselines,
  simppoInterference,
  simppoSingle,
  simppoMultitenant,
  simppoAttempts,
  simppoServing,
  simppoChurn,
  simppoScale,
  simppoOverhead,
] as readonly Study[];
