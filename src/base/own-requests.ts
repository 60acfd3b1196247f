/**
 * Whether a request comes from a page that somebody else wrote, for every port that listens on this machine.
 * Owns: the two questions that tell: under which name it was sent (a page elsewhere can make its own name point at
 * loopback), and from which origin (a page elsewhere can send without being able to read the answer). Not here: tokens.
 */

const LOOPBACK_NAMES = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Whether only this machine can reach what is bound there. */
export const isLoopbackAddress = (address: string): boolean =>
  address === "localhost" || address === "::1" || /^127(?:\.\d{1,3}){3}$/.test(address);

/** Whether a `Host` header, with its port or without, names this machine and nothing that could be pointed at it. */
export const isLoopbackName = (host: string): boolean => LOOPBACK_NAMES.test(host);

interface RequestOrigin {
  /** The headers `Origin`, `Sec-Fetch-Site` and `Host`; null where there is none. */
  readonly origin: string | null;
  readonly site: string | null;
  readonly host: string;
}

/** Whether a browser says that another page than this host's own sends it. What is no browser says nothing. */
export function isForeignOrigin({ origin, site, host }: RequestOrigin): boolean {
  const isOwn = origin === null || (URL.canParse(origin) && new URL(origin).host === host);
  return !(isOwn && (site === null || site === "same-origin" || site === "none"));
}
