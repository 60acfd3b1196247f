/** Telemetry: what a controller may know of a workload, and nothing more. */
export type { OomKill, PodReading, WorkloadReading } from "./reading.ts";
