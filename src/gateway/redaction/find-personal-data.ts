import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import { numberWindows } from './number-windows.ts'
import { protectedSpans } from './protected-spans.ts'
import { emails, urlCredentials } from './recognisers/email.ts'
import { ibans } from './recognisers/iban.ts'
import { ipAddresses } from './recognisers/ip-address.ts'
import { names } from './recognisers/names.ts'
import { nationalIdNumbers, socialSecurityNumbers } from './recognisers/national-ids.ts'
import { paymentCards } from './recognisers/payment-card.ts'
import { phoneNumbers } from './recognisers/phone.ts'
import type { Hit, Reading, Recogniser } from './recognisers/recogniser.ts'
import { secrets } from './recognisers/secrets.ts'

/** What is looked for. */
export interface Sought {
  readonly types: ReadonlySet<PiiType>
  /** Country whose national phone numbers are known without a prefix, ISO 3166. */
  readonly region: string
}

/** Read the whole text, where they may find something at all. */
const wordy: readonly Recogniser[] = [urlCredentials, secrets, emails]

const wordyAndNames: readonly Recogniser[] = [...wordy, names]

/** Read what stands around digits. */
const numeric: readonly Recogniser[] = [
  ibans,
  paymentCards,
  socialSecurityNumbers,
  nationalIdNumbers,
  ipAddresses,
  phoneNumbers,
]

/** Of two that overlap the earlier one names the whole. */
const rank: ReadonlyMap<PiiType, number> = new Map(
  [...wordy, ...numeric, names].flatMap(({ types }, at) => types.map((type) => [type, at] as const)),
)

/** Costly checks in one request; a hostile one of a megabyte has more candidates. */
const maxChecks = 500

/**
 * Personal data in a text, in order and without overlap. Base64 is not looked into. Time is linear in the text's length.
 * Names of people are found only where they are sought, and then weakly.
 */
export const findPersonalData = (
  text: string,
  { types, region }: Sought,
  budget: Reading['budget'] = { checks: maxChecks },
): readonly Hit[] => {
  const hits: Hit[] = []
  let plain: string | null = null
  for (const each of types.has('name') ? wordyAndNames : wordy) {
    if (!each.mayFind(text)) continue
    plain ??= withoutEscapes(text)
    for (const hit of each.find({ text: plain, region, budget })) hits.push(hit)
  }
  const windows = numberWindows(text)
  if (windows.length > 0) plain ??= withoutEscapes(text)
  for (const { start, end } of windows) {
    const near = (plain ?? text).slice(start, end)
    for (const each of numeric) {
      if (!each.mayFind(near)) continue
      for (const hit of each.find({ text: near, region, budget })) {
        hits.push({ start: hit.start + start, end: hit.end + start, type: hit.type })
      }
    }
  }
  if (hits.length === 0) return none
  const sought = hits.filter(({ type }) => types.has(type))
  return sought.length === 0 ? none : outside(text, sought.length === 1 ? sought : merged(sought))
}

/** Personal data in a text of a request. */
export type HitsOf = (text: string) => readonly Hit[]

/** The texts of one request: costly checks are counted over all of them. */
export const findHits = (sought: Sought): HitsOf => {
  const budget = { checks: maxChecks }
  return (text) => findPersonalData(text, sought, budget)
}

const none: readonly Hit[] = []

/** Escapes of JSON as blanks or as what they stand for, so that every place stays where it is. */
const withoutEscapes = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(?:u[0-9a-f]{4}|\\[nrt]|["\\/bfnrt])/gi, unescaped) : text

const unescaped = (written: string): string => {
  if (written === '\\/') return '//'
  if (written.length < 6) return ' '.repeat(written.length)
  const char = String.fromCharCode(Number.parseInt(written.slice(2), 16))
  if (char === '@') return '_____@'
  return (/[\p{L}\p{N}]/u.test(char) ? char : ' ').repeat(6)
}

/** Hits that overlap become one, so that no part of either stays. */
const merged = (hits: readonly Hit[]): readonly Hit[] => {
  const sorted = [...hits].sort((a, b) => a.start - b.start || b.end - a.end)
  const apart: Hit[] = []
  for (const hit of sorted) {
    const last = apart.at(-1)
    if (last === undefined || hit.start >= last.end) apart.push(hit)
    else apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, hit.end), type: stronger(last, hit) }
  }
  return apart
}

const stronger = (a: Hit, b: Hit): PiiType => ((rank.get(a.type) ?? 0) <= (rank.get(b.type) ?? 0) ? a.type : b.type)

/** Without those that touch base64. A secret is its own: a token is made of the same characters. */
const outside = (text: string, hits: readonly Hit[]): readonly Hit[] => {
  const spans = protectedSpans(text)
  if (spans.length === 0) return hits
  let next = 0
  return hits.filter(({ start, end, type }) => {
    while ((spans[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1
    const span = spans[next]
    return span === undefined || span.start >= end || (type === 'secret' && span.mimeType === '')
  })
}
