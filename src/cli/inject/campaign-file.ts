/** Campaigns from YAML files; errors name file, line and field. */
import { isAbsolute, join } from "node:path";
import { type ConfigDocument, parseConfig, readConfigFile } from "../config/document.ts";
import { invalid } from "../config/load.ts";
import { type Campaign, campaignSchema } from "./campaign-schema.ts";

export interface LoadCampaignOptions {
  readonly cwd: string;
  /** Instead of the file's; random campaigns are drawn with it too. */
  readonly seed?: number | undefined;
}

export const loadCampaign = (file: string, { cwd, seed }: LoadCampaignOptions): Campaign =>
  campaignIn(readConfigFile(file, isAbsolute(file) ? file : join(cwd, file)), seed);

export const parseCampaign = (text: string, file: string): Campaign => campaignIn(parseConfig(text, file));

function campaignIn(document: ConfigDocument, seed?: number): Campaign {
  const parsed = campaignSchema.safeParse(seed === undefined ? document.value : { ...document.value, seed });
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues, {
    schema: campaignSchema,
    document,
    // What is missing is reported at the nearest thing that is there.
    originOf: (path) => ({ kind: "file", file: document.file, line: document.lineOf(path) }),
  });
}
