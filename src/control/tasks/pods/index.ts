/** Pod autoscaling, AWARE's task: what is seen, done and rewarded, its shield, its learner, its environment. */

export { actionOrder, actionSpace, decodeAction, encodeAction } from "./action.ts";
export type { ActionKind, AutoscaleOptions, AutoscaleTask, FeatureSet } from "./autoscale.ts";
export { autoscaleTask, mostPerEpisode, productMode, sharpSwitchCost, usualHeadroom } from "./autoscale.ts";
export type { PodsAdviceWork } from "./calibration/advisor.ts";
export { PODS_ADVICE, podsAdvice } from "./calibration/advisor.ts";
export { calibrate } from "./calibration/calibrate.ts";
export { courseOf, simulate } from "./calibration/fluid.ts";
export { minutesOf } from "./calibration/records.ts";
export { expectedLoads, priorController } from "./calibration/search.ts";
export type { LoadHistory } from "./capacity/minutes.ts";
export type { AutoscaleEnv } from "./env.ts";
export { autoscaleEnv } from "./env.ts";
export type { LearnerChoice } from "./learner.ts";
export { autoscaleBcq, autoscaleLearner, learnerAlgorithm, replayStepsOf } from "./learner.ts";
export type { PodBounds, PodGuard, PodLimitOptions } from "./limits.ts";
export { podLimits, profileLimits, usualPodGuard } from "./limits.ts";
export type { Observation } from "./observation.ts";
export { encodeObservation, freshObservationMemory, observationSpace } from "./observation.ts";
export type { WorkloadProfile } from "./profile.ts";
export { profileProblems, profileTask, thresholdsFor, usualThresholds } from "./profile.ts";
export { objectiveKinds } from "./rates.ts";
export { rewardParts } from "./reward.ts";
export type { ShieldOptions } from "./shield.ts";
export { defaultShield, noShield, shieldOf } from "./shield.ts";
export { podsTask, podsTaskName } from "./task.ts";
export { objectiveWords, podReward, podSums, podView } from "./view.ts";
