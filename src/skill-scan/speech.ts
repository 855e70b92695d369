/** Words of a text that teaches, detects or forbids what it quotes. */
const defensive =
  /\b(?:detect|flag|recogni[sz]e|look (?:out )?for|watch for|search for|grep|scan|audit|review|attack|attacker|adversar|malicious|injection|jailbreak|exploit|vulnerab|untrusted|suspicious|red[- ]?flag|threat|phishing|forbid|forbidden|prohibit|block(?:ed|s)?|reject|refuse|sanitize|anti-?pattern|bad example|unsafe|dangerous|do not follow|never|avoid|warn(?:ing)?|must not|don't|do not|cannot|not allowed|❌|⚠)/iu

const forbidding =
  /(?:\bnever|\bdo not|\bdon['’]t|\bmust not|\bshould not|\bavoid|\brefuse to|\bnot to|\bcannot|\bwithout ever|❌)[^.\n]{0,60}$/iu

/** A sentence that attributes an action to an attacker. */
const attributed =
  /\b(?:attackers?|adversar(?:y|ies)|malicious (?:actors?|users?|skills?|pages?|servers?)|threat actors?)\b[^.\n]{0,120}$/i

/** Characters before and after a match that are searched for an explanation. */
const before = 400
const after = 160

/**
 * Returns a function that determines whether a match is only mentioned, and not an instruction: it is forbidden, or
 * quoted in a context of detection and defence.
 */
export const speechOf = (text: string): ((at: number, length: number) => boolean) => {
  let fences: readonly number[] | undefined
  const fenced = (at: number): boolean => {
    fences ??= [...text.matchAll(fence)].map(({ index }) => index)
    return (fences.filter((index) => index < at).length & 1) === 1
  }
  return (at, length) => speaksAbout(text, { at, length }, fenced)
}

interface Place {
  readonly at: number
  readonly length: number
}

const speaksAbout = (text: string, { at, length }: Place, fenced: (at: number) => boolean): boolean => {
  const lead = text.slice(Math.max(0, at - before), at)
  if (forbidding.test(lead.slice(-100)) || attributed.test(lead.slice(-160))) return true
  if (!isQuoted(text, { at, length }, fenced)) return false
  return defensive.test(lead) || defensive.test(text.slice(at + length, at + length + after)) || isListed(lead)
}

/** Whether a heading before it announces attacks or examples. */
const isListed = (lead: string): boolean =>
  /(?:^|\n)#{1,6} [^\n]*(?:example|pattern|indicator|sign|test case)/iu.test(lead)

const fence = /^ {0,3}(?:```|~~~)/gmu

/** Whether a match is in a code block, in backticks or quotation marks, in a quoted line or in a table. */
const isQuoted = (text: string, { at, length }: Place, fenced: (at: number) => boolean): boolean => {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const found = text.indexOf('\n', at + length)
  const line = text.slice(start, found < 0 ? text.length : found)
  if (/^\s*(?:>|\|)/u.test(line)) return true
  const lead = text.slice(start, at)
  const rest = text.slice(at + length, found < 0 ? text.length : found)
  if (pairs.some(([open, close]) => opened(lead, open, close) && rest.includes(close))) return true
  return fenced(at)
}

const pairs = [
  ['`', '`'],
  ['"', '"'],
  ['“', '”'],
  ['«', '»'],
  ['„', '“'],
  ["'", "'"],
] as const

const opened = (lead: string, open: string, close: string): boolean => {
  if (open === close) return (lead.split(open).length & 1) === 0
  return lead.lastIndexOf(open) > lead.lastIndexOf(close)
}
