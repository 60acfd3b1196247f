/** The columns that the series of every workload has, whatever its task; its knobs add theirs (SeriesColumns in plane.ts). */
export const seriesColumns = ["load", "latency", "expected", "preservation", "reward", "cost"] as const;
export type SeriesColumn = (typeof seriesColumns)[number];
