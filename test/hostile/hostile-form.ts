/**
 * How long and with which draws the hostile suite attacks.
 * Owns: reading the two settings. Not here: what each part makes of them.
 */

/** CI's form takes a minute and a half together; an hour of it is COXSWAIN_HOSTILE_SECONDS=1200. */
const SHORT = 15;
const asked = Number(process.env.COXSWAIN_HOSTILE_SECONDS ?? SHORT);

/** What each part goes on for, at least; starting, checking and a least number of cases come on top. */
export const SECONDS = Number.isFinite(asked) && asked > 0 ? asked : SHORT;
export const isShort = SECONDS <= SHORT;
/** Another one draws other attacks; a finding is found again with its seed, as far as timing allows. */
export const SEED = Number(process.env.COXSWAIN_HOSTILE_SEED ?? 20_261_118);
