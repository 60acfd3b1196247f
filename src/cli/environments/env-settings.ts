/** Settings of an environment: parsed once, with one sentence for what is wrong. */
import type { z } from "zod";
import { CodedError, failure } from "../../base/index.ts";
import type { EnvConfig } from "../../learn/env/index.ts";

export function envSettings<S extends z.ZodType>(
  schema: S,
  { id, config }: { readonly id: string; readonly config: EnvConfig },
): z.output<S> {
  const parsed = schema.safeParse(config);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".");
  const what = issue === undefined ? "they are not valid" : `${where ? `'${where}': ` : ""}${issue.message}`;
  throw new CodedError(failure("env.config", `the settings of ${id} are not valid: ${what}`));
}
