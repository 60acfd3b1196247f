/**
 * The first parts of the dashboard's addresses (`#/events`, `#/workloads/<id>`).
 * Owns: the list, which the server needs to lead `/workloads/<id>` to the page. Not here: what they show (dashboard's router).
 */
export const dashboardViews = ["workloads", "agents", "events", "services", "fleet", "map", "studies"] as const;
