import type { PiiType } from '#specs/resources/gateway/redaction.ts'
import { numberWindows } from './number-windows.ts'
import { decodedText, plainText, withEdges } from './plain-text.ts'
import { protectedSpans } from './protected-spans.ts'
import { emails, spelledEmails, urlCredentials } from './recognisers/email.ts'
import { ibans } from './recognisers/iban.ts'
import { ipAddresses } from './recognisers/ip-address.ts'
import { names } from './recognisers/names.ts'
import { nationalIdNumbers, socialSecurityNumbers } from './recognisers/national-ids.ts'
import { paymentCards } from './recognisers/payment-card.ts'
import { phoneNumbers } from './recognisers/phone.ts'
import type { Hit, Reading, Recogniser } from './recognisers/recogniser.ts'
import { secrets } from './recognisers/secrets.ts'

/** The data to search for. */
export interface DetectionOptions {
  readonly types: ReadonlySet<PiiType>
  /** ISO 3166 country whose phone numbers are recognised in national format, without a country code. */
  readonly region: string
}

/** Recognisers that scan the whole text, if their `mayFind` accepts it. */
const wordy: readonly Recogniser[] = [urlCredentials, secrets, emails, spelledEmails]

const wordyAndNames: readonly Recogniser[] = [...wordy, names]

/** Recognisers that scan only the surroundings of digits. */
const numeric: readonly Recogniser[] = [
  ibans,
  paymentCards,
  socialSecurityNumbers,
  nationalIdNumbers,
  ipAddresses,
  phoneNumbers,
]

/** Precedence of types: when two hits overlap, the earlier type names the merged hit. */
const rank: ReadonlyMap<PiiType, number> = new Map(
  [...wordy, ...numeric, names].flatMap(({ types }, at) => types.map((type) => [type, at] as const)),
)

/** Maximum costly checks per request; a hostile request of a megabyte has more candidates. */
const maxChecks = 500

/**
 * Finds personal data in a text; hits are in order and do not overlap. Base64 is not searched. The time is linear in
 * the length of the text. Names of people are searched only when requested, and are recognised with low accuracy.
 */
export const findPersonalData = (
  text: string,
  { types, region }: DetectionOptions,
  budget: Reading['budget'] = { checks: maxChecks },
): readonly Hit[] => {
  const hits: Hit[] = []
  const plain = plainText(text)
  const read = plain.text
  for (const each of types.has('name') ? wordyAndNames : wordy) {
    if (!each.mayFind(read)) continue
    for (const hit of each.find({ text: read, words: read, region, budget }))
      hits.push({ ...hit, ...plain.placeOf(hit) })
  }
  for (const { start, end } of numberWindows(read)) {
    for (const hit of numbersIn(read.slice(start, end), region, budget))
      hits.push({ type: hit.type, ...plain.placeOf({ start: hit.start + start, end: hit.end + start }) })
  }
  if (hits.length === 0) return none
  const sought = hits.filter(({ type }) => types.has(type))
  return sought.length === 0 ? none : outside(text, sought.length === 1 ? sought : merged(sought))
}

export type HitsOf = (text: string) => readonly Hit[]

/** Returns a finder for the texts of one request; its budget of costly checks is shared by all of them. */
export const findHits = (sought: DetectionOptions): HitsOf => {
  const budget = { checks: maxChecks }
  return (text) => findPersonalData(text, sought, budget)
}

const none: readonly Hit[] = []

/** Finds numbers in a part of a text. */
const numbersIn = (part: string, region: string, budget: Reading['budget']): readonly Hit[] => {
  const decoded = decodedText(part)
  const near = withEdges(decoded.text)
  const hits: Hit[] = []
  for (const each of numeric) {
    if (!each.mayFind(near)) continue
    for (const hit of each.find({ text: near, words: decoded.text, region, budget }))
      hits.push({ ...hit, ...decoded.placeOf(hit) })
  }
  return hits
}

/** Merges overlapping hits, so that no part of either remains. */
const merged = (hits: readonly Hit[]): readonly Hit[] => {
  const sorted = [...hits].sort((a, b) => a.start - b.start || b.end - a.end)
  const disjoint: Hit[] = []
  for (const hit of sorted) {
    const last = disjoint.at(-1)
    if (last === undefined || hit.start >= last.end) disjoint.push(hit)
    else
      disjoint[disjoint.length - 1] = { start: last.start, end: Math.max(last.end, hit.end), type: stronger(last, hit) }
  }
  return disjoint
}

const stronger = (a: Hit, b: Hit): PiiType => ((rank.get(a.type) ?? 0) <= (rank.get(b.type) ?? 0) ? a.type : b.type)

/** Removes hits that overlap base64. Secrets within bare base64 are kept, since tokens use the same characters. */
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
