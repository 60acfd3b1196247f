/**
 * The file of access tokens that every serving command takes with `--token-file`.
 * Owns: its format and its roles. Not here: what a role may do (server, adapters).
 *
 * One file may serve several commands: each takes the roles that concern it.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CodedError, failure } from "../base/index.ts";
import { usageError } from "./failures.ts";
import type { Shell } from "./shell.ts";

/** `viewer` and `operator` ask the API, `sender` sends spans, `player` plays environments. */
const ROLES = ["viewer", "operator", "sender", "player"] as const;
export type TokenRole = (typeof ROLES)[number];

export interface NamedToken {
  readonly role: TokenRole;
  readonly name: string;
  readonly secret: string;
}

export interface TokenFile {
  /** As it is named in messages. */
  readonly file: string;
  readonly tokens: readonly NamedToken[];
}

const isRole = (word: string | undefined): word is TokenRole => ROLES.some((role) => role === word);

/** `role name secret` in each line; '#' begins a comment. Undefined where no file is named: then there are no tokens. */
export function readTokenFile(shell: Pick<Shell, "cwd">, path: string | undefined): TokenFile | undefined {
  if (path === undefined) return undefined;
  const file = resolve(shell.cwd, path);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new CodedError(failure("plane.tokens", `the tokens in ${file} cannot be read: ${words}`, { cause }));
  }
  const tokens = text
    .split("\n")
    .map((line, index) => ({ words: line.trim().split(/\s+/), line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ words: [role, name, secret, ...rest], number }) => {
      if (!isRole(role) || !name || !secret || rest.length > 0)
        throw usageError(
          `line ${number} of ${file} is not a token`,
          "write 'viewer', 'operator', 'sender' or 'player', a name and a secret, with spaces between",
        );
      return { role, name, secret };
    });
  if (tokens.length === 0)
    throw usageError(
      `${file} has no tokens in it`,
      "write a line 'operator <name> <secret>', or leave --token-file out",
    );
  return { file, tokens };
}

/**
 * The tokens of one port. Whoever names a file wants a token to be asked for: a port for which the file has none would be
 * open to everybody who reaches it.
 */
export function tokensOf<R extends TokenRole>(
  found: TokenFile | undefined,
  { roles, port, instead }: { readonly roles: readonly R[]; readonly port: string; readonly instead?: string },
): readonly (NamedToken & { readonly role: R })[] {
  if (found === undefined) return [];
  const own = found.tokens.filter((token): token is NamedToken & { readonly role: R } =>
    roles.some((role) => role === token.role),
  );
  if (own.length > 0) return own;
  const wanted = roles.map((role) => `'${role}'`).join(" or ");
  throw usageError(
    `${found.file} has no ${wanted}, so ${port} would be open to everybody who reaches it`,
    `add a line '${roles.at(-1)} <name> <secret>'${instead === undefined ? "" : `, or ${instead}`}`,
  );
}
