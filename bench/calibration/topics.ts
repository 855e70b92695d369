import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from '../recall/files.ts'
import type { Person, Question, Remembered, Sets } from './sets.ts'

const styles: Readonly<Record<string, string>> = { s: 'statement', c: 'chat', n: 'note' }

/** One thing that can be said in several ways, questions that it answers, and near ones that it does not. */
interface Topic {
  readonly said: readonly { readonly style: string; readonly text: string }[]
  readonly questions: readonly string[]
  readonly near: readonly string[]
}

const folder = join(import.meta.dirname, 'texts')
const perPerson = 13
const unsaidOf = 5

/**
 * Our own small set, made of the topics in `texts`: people who said some of them, each in one style. Every topic is said
 * by one person only, and one of five by none of them: questions about these were never said.
 */
export function ownSets(): Sets {
  const files = filesBelow(folder, '.txt').filter((path) => !path.endsWith('distractors.txt'))
  const made = files.map((path) => setsOf(topicsIn(path), path.slice(-6, -4)))
  return {
    people: made.flatMap(({ people }) => people),
    questions: made.flatMap(({ questions }) => questions),
    strangers: made.flatMap(({ strangers }) => strangers),
    distractors: linesOf(join(folder, 'distractors.txt')),
  }
}

const linesOf = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n').filter(Boolean)

/** Reads topics: `#` begins one; lines begin with `s`, `c` or `n` for what was said, `q` for a question, `x` for a near one. */
function topicsIn(path: string): readonly Topic[] {
  const parts: string[][] = []
  for (const line of linesOf(path)) line.startsWith('#') ? parts.push([]) : parts.at(-1)?.push(line)
  const of = (lines: readonly string[], mark: string): readonly string[] =>
    lines.flatMap((line) => (line.startsWith(`${mark} `) ? [line.slice(2)] : []))
  return parts.map((lines) => ({
    said: Object.entries(styles).flatMap(([mark, style]) => of(lines, mark).map((text) => ({ style, text }))),
    questions: of(lines, 'q'),
    near: of(lines, 'x'),
  }))
}

function setsOf(topics: readonly Topic[], language: string): Omit<Sets, 'distractors'> {
  const used = [...new Set(topics.flatMap(({ said }) => said.map(({ style }) => style)))]
  const unsaid = topics.filter((_, at) => at % unsaidOf === unsaidOf - 1)
  const said = topics.filter((topic) => !unsaid.includes(topic))
  const count = Math.max(1, Math.round(said.length / perPerson))
  const [people, questions, strangers]: [Person[], Question[], Question[]] = [[], [], []]
  for (let person = 0; person < count; person++) {
    const [user, style] = [`${language} ${person}`, used[person % used.length] ?? '']
    const memories: Remembered[] = []
    for (const [at, topic] of said.filter((_, place) => place % count === person).entries()) {
      const id = `${user} ${at}`
      const text = topic.said.find((each) => each.style === style)?.text
      if (text === undefined) continue
      memories.push({ id, text, at: Date.UTC(2026, 0, at + 1) })
      for (const each of topic.questions) questions.push({ user, text: each, kind: 'paraphrase', answers: [id] })
      for (const each of topic.near) strangers.push({ user, text: each, kind: 'near', answers: [] })
    }
    people.push({ user, language, style, memories })
    const never = unsaid.filter((_, place) => place % count === person).flatMap((topic) => topic.questions)
    for (const text of never) strangers.push({ user, text, kind: 'never_said', answers: [] })
  }
  return { people, questions, strangers }
}
