import { weekdayOf } from './calendar.ts'
import { type Token, textOfTokens } from './tokens.ts'

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const days = setOf(
  'day morning afternoon evening night week weekday weekend month quarter year spring summer autumn fall winter hour term semester weeks months days',
)
const recurring = setOf(
  'weekdays weekends mornings afternoons evenings nights daily weekly biweekly fortnightly monthly quarterly yearly annually nightly',
)

/** Words before the subject, as in "every other Sunday, in the evening, I …". */
const adverbial = setOf(
  'on in at from to until and the , most usually normally always also but so well twice once times a an per of every each other second third first last',
)

/** Words after which a sentence is not about what recurs now: another tense, a hope, a condition, a request. */
const unreal = setOf(
  'was were had did will would could should might may must shall if unless suppose imagine pretend story game scenario example instead want wanted need needed wish hope hoped think thought plan planned used said says went came took got made that which who whether please going',
)

const [minWords, maxWords, maxLead] = [3, 40, 8]

/**
 * Reads what recurs for the user, in the present tense: "Every Sunday I call my mother", "My weekly sync is on Mondays".
 *
 * @returns null when nothing recurs, or when the sentence is about another person or an uncertain time.
 */
export const scheduleOf = (tokens: readonly Token[]): { readonly relation: string; readonly object: string } | null => {
  const low = tokens.map((token) => token.low)
  const start = low.findIndex((word) => ['i', 'we', 'my', 'our'].includes(word))
  const isLed =
    start >= 0 && start <= maxLead && low.slice(0, start).every((word) => adverbial.has(word) || isTime(word))
  if (!isLed || low.length < minWords || low.length > maxWords || low.some((word) => unreal.has(word))) return null
  const isProgressive = low.some((word, at) => ['am', 'are'].includes(word) && low[at + 1]?.endsWith('ing') === true)
  const isTask = low.some((word, at) => word === 'is' && low[at + 1] === 'to')
  if (isProgressive || isTask || !recurs(tokens)) return null
  return { relation: 'schedule', object: textOfTokens(tokens) }
}

/** Whether words name a time that comes again. */
export const recurs = (tokens: readonly Token[]): boolean => {
  const low = tokens.map((token) => token.low)
  return low.some((_, at) => recursAt(low, at))
}

const isTime = (word: string): boolean => days.has(word) || recurring.has(word) || isWeekday(word) || /^\d/.test(word)

const isWeekday = (word: string): boolean => weekdayOf(word) !== null || isWeekdays(word)

const isWeekdays = (word: string): boolean => word.endsWith('s') && weekdayOf(word.slice(0, -1)) !== null

/** Whether a recurring time begins at a word: "every other week", "Mondays", "twice a month", "Monday to Friday". */
const recursAt = (low: readonly string[], at: number): boolean => {
  const [word = '', second = '', third = '', fourth = ''] = low.slice(at, at + 4)
  if (recurring.has(word) || isWeekdays(word)) return true
  if (word === 'every' || word === 'each') return isTime(second) || isTime(third)
  if (word === 'twice' || word === 'once') return second === 'a' && days.has(third)
  if (word === 'times') return second === 'a' && days.has(third)
  return isWeekday(word) && ['to', 'through', 'until', ','].includes(second) && isWeekday(third) && fourth !== '?'
}
