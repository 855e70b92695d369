import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Collection, type Question, relevantOf, type Scope, type Text } from './collection.ts'
import { jsonOf } from './files.ts'
import { fields, items, number, text } from './schema.ts'

const turnMs = 60_000

/**
 * BEAM 100K: twenty long conversations of people with an assistant, and questions with the messages that answer them.
 * Only the people's messages are read: the assistant's are long and not memories of the person.
 */
export function readBeam(folder: string): Collection | null {
  const chats = join(folder, 'chats', '100K')
  if (!existsSync(chats)) return null
  const scopes = readdirSync(chats)
    .toSorted((a, b) => Number(a) - Number(b))
    .filter((name) => existsSync(join(chats, name, 'chat.json')))
    .map((name) => scopeOf(join(chats, name), name))
  return { name: 'BEAM 100K', profile: 'memory', scopes }
}

function scopeOf(folder: string, name: string): Scope {
  const truncated = join(folder, 'chat_trunecated.json')
  const batches = items(jsonOf(existsSync(truncated) ? truncated : join(folder, 'chat.json')))
  const texts = batches.flatMap((batch, place) =>
    items(fields(batch).turns)
      .flatMap(items)
      .map((turn) => textOf(turn, place))
      .filter(({ speaker }) => speaker === 'user'),
  )
  const known = new Set(texts.map(({ id }) => id))
  const probing = fields(jsonOf(join(folder, 'probing_questions', 'probing_questions.json')))
  const questions = Object.entries(probing).flatMap(([sort, all]) =>
    items(all).map((each) => questionOf(each, sort, known)),
  )
  return { name, texts, questions }
}

function textOf(turn: unknown, batch: number): Text {
  const { id, role, content } = fields(turn)
  const said = text(content).replace(/ ?->-> ?[\d,]+\s*$/, '')
  const place = number(id)
  return {
    id: String(place),
    text: said,
    group: `batch ${batch}`,
    order: place,
    at: place * turnMs,
    speaker: text(role),
  }
}

function questionOf(json: unknown, sort: string, known: ReadonlySet<string>): Question {
  const { question, source_chat_ids } = fields(json)
  const sources = fields(source_chat_ids)
  const idsOf = (value: unknown): readonly string[] =>
    items(value)
      .filter((id) => typeof id === 'number')
      .map(String)
      .filter((id) => known.has(id))
  const ids = Array.isArray(source_chat_ids) ? idsOf(source_chat_ids) : Object.values(sources).flatMap(idsOf)
  const [older, newer] = [idsOf(sources.original_info), idsOf(sources.updated_info)]
  const update = older.length > 0 && newer.length > 0 ? { newer: { older, newer } } : {}
  return { text: text(question), relevant: relevantOf(ids), sort, now: 1e12, ...update }
}
