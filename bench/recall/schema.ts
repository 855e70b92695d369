type Json = unknown
type Fields = Readonly<Record<string, Json>>

/** Reads a value of a public data set; a missing or mistyped value is read as empty. */
export const fields = (value: Json): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const items = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
export const text = (value: Json): string => (typeof value === 'string' ? value : '')
export const number = (value: Json): number => (typeof value === 'number' ? value : 0)

/** Hits of a search, best first. */
export interface Found {
  readonly hits: readonly { readonly id: string; readonly score: number }[]
}

/** Hits in an answer of `memory.search`. */
export const foundIn = (answer: Json): Found['hits'] =>
  items(fields(answer).results).map((hit) => ({ id: text(fields(hit).id), score: number(fields(hit).score) }))

/** Ids in an answer of `memory.write_batch`, in order; empty for one that was refused. */
export const writtenIn = (answer: Json): readonly string[] =>
  items(fields(answer).memories).map((written) => text(fields(written).id))

const texts = (value: Json): readonly string[] => items(value).map(text)

/** A text to screen. */
export interface ScreenedCase {
  readonly text: string
  readonly language: string
  readonly kind: string
}

/** Parses a line of a file of texts to screen. */
export const screenedCase = (line: string): ScreenedCase => {
  const { text: said, language, kind } = fields(JSON.parse(line))
  return { text: text(said), language: text(language), kind: text(kind) }
}

/** Flags in an answer of `memory.write`; none in a refusal. */
export const writeResult = (answer: string): { readonly flags: readonly string[] } => ({
  flags: texts(fields(JSON.parse(answer)).flags),
})

/** What a user says over time, and a question about it. */
export interface UpdateCase {
  readonly id: string
  readonly language: string
  readonly kind: string
  readonly turns: readonly { readonly at: string; readonly text: string }[]
  readonly question: string
  /** Index of the turn that holds. */
  readonly current: number
  /** Indexes of the turns that no longer hold. */
  readonly stale: readonly number[]
  /** What no longer holds, word for word. */
  readonly stale_texts: readonly string[]
  /** What still holds of the stale turn, word for word; empty when nothing does. */
  readonly still_true: string
}

/** Parses a line of a file of updates. */
export const updateCase = (line: string): UpdateCase => {
  const read = fields(JSON.parse(line))
  return {
    ...{ id: text(read.id), language: text(read.language), kind: text(read.kind), question: text(read.question) },
    turns: items(read.turns).map((turn) => ({ at: text(fields(turn).at), text: text(fields(turn).text) })),
    ...{ current: number(read.current), stale: items(read.stale).map(number), stale_texts: texts(read.stale_texts) },
    still_true: text(read.still_true),
  }
}

/** A hit of a search: what of it holds. */
export interface UpdateHit {
  readonly id: string
  readonly content: string
  /** A newer memory may supersede it. */
  readonly isDoubtful: boolean
}

/** Hits in an answer of `memory.search`, best first. */
export const updateHitsIn = (answer: Json): readonly UpdateHit[] =>
  items(fields(answer).results).map((hit) => ({
    ...{ id: text(fields(hit).id), content: text(fields(hit).content) },
    isDoubtful: fields(hit).may_be_superseded_by !== undefined,
  }))

/** Id and superseded memories in an answer of `memory.write`. */
export const writtenOneIn = (answer: Json): { readonly id: string; readonly superseded: readonly string[] } => ({
  id: text(fields(answer).id),
  superseded: texts(fields(answer).superseded),
})

/** Memories in an answer of `memory.list` or `memory.remember`. */
export const listedIn = (answer: Json) =>
  items(fields(answer).memories).map((memory) => {
    const { id, valid_to, superseded } = fields(memory)
    return { id: text(id), valid_to: valid_to === null ? null : text(valid_to), superseded: items(superseded) }
  })

/** The port of a listening server. */
export const portOf = (address: Json): number => number(fields(address).port)

/** Text of the user in the body of a request for an extraction; empty for any other request. */
export const extractedUser = (body: string): string => {
  const { messages, response_format } = fields(JSON.parse(body))
  if (response_format === undefined) return ''
  const last = fields(items(messages).at(-1)).content
  const said = typeof last === 'string' ? last : text(fields(items(last)[0]).text)
  return said.startsWith('{') ? text(fields(JSON.parse(said)).user) : ''
}

/** A skill to scan, by the name of its folder. */
export interface SkillCase {
  readonly name: string
  readonly kind: string
  readonly language: string
}

/** Parses a line of a file of skills. */
export const skillCase = (line: string): SkillCase => {
  const { name, kind, language } = fields(JSON.parse(line))
  return { name: text(name), kind: text(kind), language: text(language) }
}

/** Id in an answer. */
export const idIn = (answer: string): string => text(fields(JSON.parse(answer)).id)

/** Ids in an answer with a list. */
export const idsIn = (answer: string): readonly string[] =>
  items(fields(JSON.parse(answer)).data).map((each) => text(fields(each).id))

/** Severities of the findings in an answer. */
export const findingsIn = (answer: string): readonly string[] =>
  items(fields(JSON.parse(answer)).findings).map((each) => text(fields(each).severity))

/** A skill with its files: from a file of cases by another hand. */
export interface WrittenSkill extends SkillCase {
  readonly malicious: boolean
  /** By their paths: the page of the skill as text, others in Base64. */
  readonly files: Readonly<Record<string, string>>
}

/** Parses a file of skills. */
export const writtenSkills = (json: Json): readonly WrittenSkill[] =>
  items(json).map((item) => {
    const { name, kind, malicious, files } = fields(item)
    const read = Object.entries(fields(files)).map(([path, content]) => [
      path,
      path === 'SKILL.md' ? text(content) : Buffer.from(text(content)).toString('base64'),
    ])
    return {
      ...{ name: text(name), kind: text(kind), language: '', malicious: malicious === true },
      files: Object.fromEntries(read),
    }
  })

const day = 86_400_000
const start = Date.UTC(2026, 0, 5)

/** Parses a file of pairs of statements: the older one, then others, then the newer one, ten days apart. */
export const newerCases = (json: Json): readonly UpdateCase[] =>
  items(json).map((item, at) => {
    const { older, newer, distractors, question } = fields(item)
    const said = [text(older), ...texts(distractors), text(newer)]
    return {
      ...{ id: `newer ${at}`, language: '', kind: '', question: text(question), still_true: '' },
      turns: said.map((each, turn) => ({ at: new Date(start + 10 * turn * day).toISOString(), text: each })),
      ...{ current: said.length - 1, stale: [0], stale_texts: [text(older)] },
    }
  })

/** A message of a user, and what of it lasts; nothing in most. */
export interface RememberCase {
  readonly message: string
  readonly lasting: readonly string[]
}

/** Parses a file of messages. */
export const rememberCases = (json: Json): readonly RememberCase[] =>
  items(json).map((item) => ({ message: text(fields(item).message), lasting: texts(fields(item).remember) }))

/** Contents of the memories in an answer of `memory.list`. */
export const contentsIn = (answer: Json): readonly string[] =>
  items(fields(answer).memories).map((memory) => text(fields(memory).content))
