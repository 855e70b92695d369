/**
 * Words of a statement that takes the place of an earlier one: "moved to", "now", "instead of". English; a text of
 * another language says none of them.
 */
const amending =
  /\b(?:now|no longer|any ?more|instead|from now on|these days|recently|lately|actually|correction|re-?scheduled?|postponed|delayed|updated?|upgraded|adjusted|revised|amended|changed|switched|replaced|moved|shifted|extended|shortened|increased?|raised|decreased?|reduced|lowered|dropped|cut down|improved|grown|pushed (?:back|forward|to)|brought forward|turns out|up from|down from|new)\b/i

/** Characters of a text that are looked at. */
const most = 2_000

/** Whether a text speaks of something that is otherwise than it was. */
export const amends = (text: string): boolean => amending.test(text.length > most ? text.slice(0, most) : text)
