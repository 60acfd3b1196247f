/**
 * The names of an agent's stages and modes, and of those who may act: the lifecycle decides by them, documents and settings
 * show them.
 * Owns: the lists. Not here: what they mean (control/lifecycle).
 */
export const stages = ["INITIALIZED", "OFFLINE", "ONLINE", "SERVING"] as const;
export type Stage = (typeof stages)[number];

/** How much of what an agent wishes is carried out. */
export const modes = ["recommend", "canary", "act"] as const;
export type Mode = (typeof modes)[number];

/** Whose wish is carried out. */
export const actors = ["learner", "fallback", "nobody"] as const;
export type Actor = (typeof actors)[number];
