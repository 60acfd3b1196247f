/** Chooses the dialect for the version of InfluxDB and opens the store on it. */

import type { Ms } from "../../base/index.ts";
import type { TrajectoryStore } from "../../learn/trajectory/index.ts";
import { openOnInflux } from "./influx.ts";
import { influxV1 } from "./influx-v1.ts";
import { influxV2 } from "./influx-v2.ts";

interface Common {
  /** `http://127.0.0.1:8086` */
  readonly url: string;
  readonly timeout?: Ms;
}

/** A store needs a database or bucket of its own. In 1.x it is made when missing, in 2.x it must be there. */
export type InfluxStoreOptions =
  | (Common & {
      readonly version: 1;
      readonly database: string;
      readonly user?: string;
      readonly password?: string;
    })
  | (Common & {
      readonly version: 2;
      readonly organisation: string;
      readonly bucket: string;
      readonly token: string;
    });

export function openInfluxStore(options: InfluxStoreOptions): Promise<TrajectoryStore> {
  const target = { url: options.url, timeoutMs: options.timeout ?? 30_000 };
  const now = Date.now() as Ms;
  if (options.version === 2) {
    const { organisation, bucket, token } = options;
    return openOnInflux(influxV2({ ...target, authorization: `Token ${token}` }, { organisation, bucket }), { now });
  }
  const { database, user, password = "" } = options;
  const basic = Buffer.from(`${user}:${password}`).toString("base64");
  return openOnInflux(
    influxV1(user === undefined ? target : { ...target, authorization: `Basic ${basic}` }, database),
    {
      now,
    },
  );
}
