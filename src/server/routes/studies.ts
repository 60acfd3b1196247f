/**
 * The published studies.
 * Owns: the port to where they lie, and the routes. Not here: files (study-folder.ts), what a result is (contract.ts).
 */
import { z } from "@hono/zod-openapi";
import type { Result } from "../../base/index.ts";
import type { StudyResult, StudySummary } from "../../contract/index.ts";
import { pageOf, studyResultSchema, studySummarySchema } from "../../contract/schemas/index.ts";
import { addEndpoint, type HonoApp, nameParameter, notFound } from "../endpoint.ts";

export interface StudyShelf {
  list(): Promise<readonly StudySummary[]>;
  /** Undefined where there is no such study. */
  read(id: string): Promise<Result<StudyResult> | undefined>;
  /** An SVG. */
  figure(id: string, name: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

export function addStudyRoutes(app: HonoApp, shelf: StudyShelf): void {
  const params = z.strictObject({ id: nameParameter("a study") });

  addEndpoint(app, {
    id: "listStudies",
    method: "get",
    path: "/v1/studies",
    tag: "studies",
    summary: "The published studies.",
    answer: pageOf("StudyPage", studySummarySchema),
    handle: async () => ({ document: { items: await shelf.list(), next: null } }),
  });

  addEndpoint(app, {
    id: "getStudy",
    method: "get",
    path: "/v1/studies/{id}",
    tag: "studies",
    summary: "One study's result, as `coxswain reproduce --json` printed it.",
    params,
    answer: studyResultSchema,
    problems: [404, 503],
    async handle({ params: { id } }) {
      const found = await shelf.read(id);
      if (found === undefined) return notFound(`study '${id}'`);
      return found.ok ? { document: found.value } : { failure: found.failure };
    },
  });

  addEndpoint(app, {
    id: "getStudyFigure",
    method: "get",
    path: "/v1/studies/{id}/figures/{name}",
    tag: "studies",
    summary: "A figure of a study.",
    params: z.strictObject({ id: nameParameter("a study"), name: nameParameter("a figure") }),
    mediaType: "image/svg+xml",
    answer: z.string(),
    problems: [404],
    async handle({ params: { id, name } }) {
      const bytes = await shelf.figure(id, name);
      if (bytes === undefined) return notFound(`figure '${name}' of study '${id}'`);
      // Opened by itself, an image is a page of its own: it gets no scripts.
      const headers = {
        "content-type": "image/svg+xml",
        "cache-control": "no-cache",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; font-src data:; sandbox",
      };
      return { response: new Response(bytes, { headers }) };
    },
  });
}
