import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fields, items, text } from '../recall/schema.ts'

export interface Remembered {
  readonly id: string
  readonly text: string
  /** ms since the epoch. */
  readonly at: number
}

/** A person with memories in one style and language. */
export interface Person {
  readonly user: string
  readonly language: string
  readonly style: string
  readonly memories: readonly Remembered[]
}

/** A question of a person, and the memories that answer it; none for a question about what was never said. */
export interface Question {
  readonly user: string
  readonly text: string
  readonly kind: string
  readonly answers: readonly string[]
}

export interface Sets {
  readonly people: readonly Person[]
  readonly questions: readonly Question[]
  readonly strangers: readonly Question[]
  /** Texts that answer no question. */
  readonly distractors: readonly string[]
}

/** Reads `people`, `questions`, `strangers` and `distractors` (`.jsonl`) in a folder. @throws {Error} for a missing one. */
export function readSets(folder: string): Sets {
  const lines = (name: string): readonly Readonly<Record<string, unknown>>[] =>
    readFileSync(join(folder, `${name}.jsonl`), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => fields(JSON.parse(line)))
  return {
    people: lines('people').map((person) => ({
      ...{ user: text(person.user), language: text(person.language), style: text(person.style) },
      memories: items(person.memories).map((each) => {
        const memory = fields(each)
        return { id: text(memory.id), text: text(memory.text), at: Date.parse(text(memory.at)) || 0 }
      }),
    })),
    questions: lines('questions').map(questionOf),
    strangers: lines('strangers').map(questionOf),
    distractors: lines('distractors').map((line) => text(line.text)),
  }
}

const questionOf = (line: Readonly<Record<string, unknown>>): Question => ({
  ...{ user: text(line.user), text: text(line.question), kind: text(line.kind) },
  answers: items(line.answer).map(text),
})
