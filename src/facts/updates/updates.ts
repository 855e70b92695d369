import { cues } from './cues.ts'
import { owners, people, relationOf } from './people.ts'
import { areOtherOccasions, mayShareSlot } from './slots.ts'

/** How a statement relates to earlier ones: it corrects one of the latest, or says what has ended, what was gained, or what is different now. */
export type Change = 'correction' | 'end' | 'gain' | 'change'

/** Returns how a text states a change; null when it states something beside what was said, or nothing of the kind. */
export const changeOf = (text: string): Change | null => {
  const low = text.toLowerCase()
  if (cues.corrects.test(low)) return 'correction'
  if (cues.adds.test(low) || cues.passing.test(low)) return null
  if (cues.changes.test(low)) return cues.gains.test(low) && !cues.replaces.test(low) ? 'gain' : 'change'
  return cues.ends.test(low) ? 'end' : null
}

const letter = /\p{L}/u

/** Where a clause of an enumeration ends. */
const clauseEnd = /[,;，、。；]|(?<!\p{L})(?:and|but|und|aber|y|pero|et|mais|e|ma|и|а|но)(?!\p{L})/giu

/**
 * Whether a statement that states a change may update an older one: the same person, and the same slot of what one of its
 * clauses says.
 */
export const mayUpdate = (newer: string, older: string, change: Change): boolean => {
  if (older.trim().endsWith('?') || !mayShareSubject(newer, older)) return false
  const named = namedSubject.exec(newer)?.[1] ?? ''
  const name = older.startsWith(named) ? '' : named
  const low = newer.slice(name.length).toLowerCase()
  const whole = older.toLowerCase()
  if ((change === 'change' || change === 'gain') && areOtherOccasions(low, whole)) return false
  // what is said of a named person has to be about more than the name
  const means = name !== '' && change === 'change' ? 'gain' : change
  return whole.split(clauseEnd).some((clause) => letter.test(clause) && mayShareSlot(low, clause, means))
}

/** Whether two statements may be about the same subject: neither is about a person whom the other does not mention. */
const mayShareSubject = (newer: string, older: string): boolean => {
  const named = namedSubject.exec(newer)?.[1]
  if (named !== undefined && !older.includes(named) && older.toLowerCase().search(people) < 0) return false
  const [ofNewer, ofOlder] = [subjectOf(newer), subjectOf(older)]
  if (ofNewer.person !== null && !ofOlder.people.has(ofNewer.person))
    return ofNewer.names.some((name) => older.includes(name))
  if (ofOlder.person !== null && !ofNewer.people.has(ofOlder.person) && !startsWithPronoun.test(newer))
    return ofOlder.names.some((name) => newer.includes(name))
  const [one, other] = [ofNewer.named, ofOlder.named]
  return one === null || other === null || one === other || newer.includes(other) || older.includes(one)
}

/** A name that a statement begins with, as the one who does or has something. */
const namedSubject =
  /^(\p{Lu}\p{Ll}{1,20})(?:['’]s (?:in|on|at|sold|bought|given|got|gone|started|stopped|quit|taken|moved|been|now|joined|into)|(?:,? now)? (?:can['’]t|isn['’]t|shouldn['’]t|doesn['’]t|won['’]t|has|hates|loves|likes|plays|works|lives|started|joined|moved|hat|darf|verträgt|spielt|wohnt|geht|juega|vive|trabaja|no puede|ha empezado|joue|habite|travaille|ne |a commencé|joga|mora|trabalha|não|começou|gioca|vive|lavora|играет|живёт|работает|не |начал)(?!\p{L}))/u

interface Subject {
  /** The person whom the statement begins with, by their relation to the user; null for the user. */
  readonly person: string | null
  readonly people: ReadonlySet<string>
  readonly names: readonly string[]
  /** The name behind the relation: "my sister Anna". */
  readonly named: string | null
}

const beginning =
  /^(?:\p{L}{1,12},? )?(?:my|our|the|meine?|unsere?|mi|nuestr[oa]|mon|ma|notre|o meu|a minha|meu|minha|mi[ao]|la mia|il mio|мо[йяё]|наш[а]?|我的?|私の|मेर[ािीे])?[ ]?/iu
const name = /(?<!\p{L})\p{Lu}\p{Ll}{1,24}(?!\p{L})/gu
const startsWithPronoun =
  /^(?:s?he|they|it|er|sie|él|ella|il|elle|ele|ela|lui|lei|он|она|他|她|彼)(?!\p{L})|^.{0,40}[.!] (?:s?he|they)\b/iu

/** The person behind another one: "Dad's brother". */
const ownedPerson = new RegExp(`^['’]s (${people.source})`, 'u')

const subjectOf = (text: string): Subject => {
  const low = text.toLowerCase()
  const found = [...low.matchAll(people)]
  const start = beginning.exec(low)?.[0].length ?? 0
  const first = found[0]
  const relative = first === undefined ? null : ownedPerson.exec(low.slice(first.index + first[0].length))
  const isFirst = first !== undefined && first.index <= start
  const owner = owners
    .exec(low)
    ?.slice(1)
    .find((each) => each !== undefined)
  const names = [...text.slice(1).matchAll(name)].map(([each]) => each)
  const behind = isFirst ? text.slice(first.index + first[0].length).match(/^ (\p{Lu}\p{Ll}{1,24})/u) : null
  return {
    person: isFirst ? relationOf(relative?.[1] ?? first[0]) : owner === undefined ? null : relationOf(owner),
    people: new Set(found.map(([each]) => relationOf(each))),
    names,
    named: behind?.[1] ?? null,
  }
}
