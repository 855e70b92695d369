import { startServer } from '#scripts/services/server.ts'
import { type MemoryApi, memoryApi } from '../memory-api.ts'
import { jsonIn } from '../recall/files.ts'
import { contentsIn, type RememberCase, rememberCases } from '../recall/schema.ts'
import type { Row } from '../row.ts'

const key = `csk_${'r'.repeat(40)}`

/** Share of a statement's decisive words that a memory has when it says the same. */
const enough = 0.6

interface Outcome extends RememberCase {
  /** Contents of the memories that the message left. */
  readonly stored: readonly string[]
}

/**
 * Measures what a message leaves in memory without a model of a provider, over the API, with the packaged sentence
 * model (EMBEDDER=none: by rules alone): `remember.json` of the folder of sets has messages, and statements of what
 * should last of each. A memory is the sentence of the message, a statement is in words of its author: it counts as
 * found when one memory has most of its decisive words, which are those that the message has too. `in the words of
 * the author` counts all words of the statement.
 */
export const benchRemembering = async (sets: string | null): Promise<readonly Row[]> => {
  const cases = rememberCases(jsonIn(sets, 'remember.json'))
  if (cases.length === 0) return []
  const server = await startServer({ BOOTSTRAP_SECRET_KEY: key, EMBEDDER: process.env.EMBEDDER ?? 'local' })
  try {
    const api = memoryApi(server.url, key)
    // opens the sentence model, for which a message waits four seconds
    await api('write', { userId: 'first', content: 'This is the first memory.', wait: true })
    const outcomes: Outcome[] = []
    for (const [at, each] of cases.entries()) outcomes.push(await outcomeOf(api, each, at))
    return rowsOf(outcomes)
  } finally {
    await server.stop()
  }
}

const outcomeOf = async (api: MemoryApi, each: RememberCase, at: number): Promise<Outcome> => {
  const userId = `user${at}`
  await api('remember', { userId, user: each.message, assistant: '', wait: true })
  return { ...each, stored: contentsIn(await api.get(`list?userId=${userId}&limit=100`)) }
}

const rowsOf = (outcomes: readonly Outcome[]): readonly Row[] => {
  const expected = outcomes.flatMap(({ message, lasting, stored }) =>
    lasting.map((statement) => ({ statement, message, stored })),
  )
  const stored = outcomes.flatMap(({ message, lasting, stored: contents }) =>
    contents.map((content) => ({ content, message, lasting })),
  )
  const empty = outcomes.filter(({ lasting }) => lasting.length === 0)
  const row = (measure: string, ours: number): Row => ({ measure, unit: '', ours })
  return [
    row(
      `recall of statements (${expected.length})`,
      share(expected, (each) => each.stored.some((content) => says(content, decisive(each)))),
    ),
    row(
      'the same, in the words of the author',
      share(expected, (each) => each.stored.some((content) => says(content, wordsOf(each.statement)))),
    ),
    row(
      `precision of memories (${stored.length})`,
      share(stored, ({ content, message, lasting }) =>
        lasting.some((statement) => says(content, decisive({ statement, message }))),
      ),
    ),
    row(
      `messages without anything lasting that leave nothing (${empty.length})`,
      share(empty, (each) => each.stored.length === 0),
    ),
  ]
}

const share = <T>(all: readonly T[], holds: (each: T) => boolean): number => all.filter(holds).length / all.length

const unimportant: ReadonlySet<string> = new Set(
  'the and for with that this they them their his her its our your you are was were been have has had not never always now only than then from into out who which when where what all any user users wants want prefers likes use uses because since also does did been will may must should'.split(
    ' ',
  ),
)

/** Words of a text that carry it, without their endings. */
const wordsOf = (said: string): ReadonlySet<string> =>
  new Set(
    (said.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
      .filter((word) => (word.length > 2 || /\d/.test(word)) && !unimportant.has(word))
      .map((word) => (word.length > 4 ? word.replace(/(?:ing|ed|es|s|ly|er)$/u, '') : word)),
  )

/** Words of a statement that its message has too; all of them when there is none. */
const decisive = ({ statement, message }: { readonly statement: string; readonly message: string }) => {
  const words = wordsOf(statement)
  const shared = common(words, wordsOf(message))
  return shared.size > 0 ? shared : words
}

const says = (content: string, words: ReadonlySet<string>): boolean =>
  common(words, wordsOf(content)).size >= enough * words.size

const common = (some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...some].filter((word) => others.has(word)))
