/**
 * Words of a statement that replaces an earlier one: "moved to", "now", "instead of". English only; texts in other
 * languages never match.
 */
const amending =
  /\b(?:now|no longer|any ?more|instead|from now on|these days|recently|lately|actually|correction|re-?scheduled?|postponed|delayed|updated?|upgraded|adjusted|revised|amended|changed|switched|replaced|moved|shifted|extended|shortened|increased?|raised|decreased?|reduced|lowered|dropped|cut down|improved|grown|pushed (?:back|forward|to)|brought forward|turns out|up from|down from|new)\b/i

/** Maximum characters of a text that are examined. */
const max = 2_000

/** Whether a text states that something has changed. */
export const amends = (text: string): boolean => amending.test(text.length > max ? text.slice(0, max) : text)
