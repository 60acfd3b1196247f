/**
 * Who sent a span: the service, and the instance that a controller can act on.
 * Owns: which attributes of a resource name them, in which order, for every format.
 */

/** Kubernetes and container names before ids that only the process knows: limits are set on pods and containers. */
export const INSTANCE_KEYS = [
  "k8s.pod.name",
  "container.name",
  "container.id",
  "service.instance.id",
  "host.name",
  /** Of Jaeger's own clients. */
  "hostname",
  "ip",
] as const;

export const SERVICE_KEY = "service.name";
/** What OpenTelemetry calls a service that has no name. */
export const UNKNOWN_SERVICE = "unknown_service";

/** The best of the instance attributes, or the service's name. */
export function instanceOf(value: (key: string) => string | undefined, service: string): string {
  for (const key of INSTANCE_KEYS) {
    const found = value(key);
    if (found !== undefined && found !== "") return found;
  }
  return service;
}
