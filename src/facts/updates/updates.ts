import { cues, people } from './cues.ts'

/** How a statement relates to earlier ones: it corrects the latest, or says what has ended or is different now. */
export type Change = 'correction' | 'change'

/** Returns whether a text states a change; null when it states something beside what was said, or nothing of the kind. */
export const changeOf = (text: string): Change | null => {
  const low = text.toLowerCase()
  if (cues.corrects.test(low)) return 'correction'
  if (cues.adds.test(low) || cues.passing.test(low)) return null
  return cues.ends.test(low) || cues.changes.test(low) ? 'change' : null
}

/** Whether two statements may be about the same subject: neither is about a person whom the other does not mention. */
export const mayShareSubject = (newer: string, older: string): boolean => {
  const [ofNewer, ofOlder] = [subjectOf(newer), subjectOf(older)]
  if (ofNewer.person !== null && !ofOlder.people.has(ofNewer.person))
    return ofNewer.names.some((name) => older.includes(name))
  if (ofOlder.person !== null && !ofNewer.people.has(ofOlder.person) && !startsWithPronoun.test(newer))
    return ofOlder.names.some((name) => newer.includes(name))
  const [one, other] = [ofNewer.named, ofOlder.named]
  return one === null || other === null || one === other || newer.includes(other) || older.includes(one)
}

interface Subject {
  /** The person whom the statement begins with, by their relation to the user; null for the user. */
  readonly person: string | null
  readonly people: ReadonlySet<string>
  readonly names: readonly string[]
  /** The name behind the relation: "my sister Anna". */
  readonly named: string | null
}

const beginning =
  /^(?:\p{L}{1,12},? )?(?:my|our|the|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|o meu|a minha|meu|minha|mi[ao]|la mia|il mio|мо[йяё]|наш[а]?|我的?|私の)?[ ]?/iu
const name = /(?<!\p{L})\p{Lu}\p{Ll}{1,24}(?!\p{L})/gu
const startsWithPronoun =
  /^(?:s?he|they|it|er|sie|él|ella|il|elle|ele|ela|lui|lei|он|она|他|她|彼)(?!\p{L})|^.{0,40}[.!] (?:s?he|they)\b/iu

const subjectOf = (text: string): Subject => {
  const low = text.toLowerCase()
  const found = [...low.matchAll(people)]
  const start = beginning.exec(low)?.[0].length ?? 0
  const first = found[0]
  const isFirst = first !== undefined && first.index <= start
  const names = [...text.slice(1).matchAll(name)].map(([each]) => each)
  const behind = isFirst ? text.slice(first.index + first[0].length).match(/^ (\p{Lu}\p{Ll}{1,24})/u) : null
  return {
    person: isFirst ? first[0] : null,
    people: new Set(found.map(([each]) => each)),
    names,
    named: behind?.[1] ?? null,
  }
}
