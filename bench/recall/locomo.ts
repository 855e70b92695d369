import { basename } from 'node:path'
import { type Collection, type Question, relevantOf, type Scope, type Text } from './collection.ts'
import { filesBelow, jsonOf } from './files.ts'
import { fields, items, number, text } from './schema.ts'

/**
 * LoCoMo: turns of ten long conversations, each between two people. Questions of category 5 name the right topic but
 * the wrong person: nothing answers them.
 */
export function readLocomo(folder: string): Collection | null {
  const files = filesBelow(folder, '.json').filter((path) => !path.includes('multimodal') || path.includes('locomo10'))
  const scopes = files.flatMap((path) => {
    const json = jsonOf(path)
    const all = Array.isArray(json) ? items(json) : [json]
    return all
      .map((each, place) => scopeOf(each, `${basename(path, '.json')}-${place}`))
      .filter(({ texts }) => texts.length > 0)
  })
  return scopes.length === 0 ? null : { name: 'LoCoMo', profile: 'memory', scopes }
}

function scopeOf(json: unknown, name: string): Scope {
  const whole = fields(json)
  const conversation = 'conversation' in whole ? fields(whole.conversation) : whole
  const sessions = Object.keys(conversation).filter((key) => /^session_\d+$/.test(key))
  const texts = sessions.flatMap((session) => textsOf(session, conversation))
  const now = Math.max(0, ...texts.map(({ at }) => at)) + 86_400_000
  const known = new Set(texts.map(({ id }) => id))
  return { name, texts, questions: items(whole.qa).map((each) => questionOf(each, known, now)) }
}

function textsOf(session: string, conversation: Readonly<Record<string, unknown>>): readonly Text[] {
  const at = dateOf(text(conversation[`${session}_date_time`]))
  return items(conversation[session]).map((turn, order) => {
    const { speaker, dia_id, text: said, blip_caption } = fields(turn)
    const photo = text(blip_caption) === '' ? '' : ` [shares ${text(blip_caption)}]`
    return {
      id: text(dia_id),
      text: `${text(said)}${photo}`,
      group: session,
      order,
      at: at + order * 30_000,
      speaker: text(speaker),
    }
  })
}

function questionOf(json: unknown, known: ReadonlySet<string>, now: number): Question {
  const { question, evidence, category } = fields(json)
  const ids = items(evidence)
    .flatMap((each) => text(each).match(/D\d+:\d+/g) ?? [])
    .filter((id) => known.has(id))
  const sort = number(category) === 5 ? 'wrong person' : 'answerable'
  return { text: text(question), relevant: relevantOf(ids), sort, now }
}

/** Parses a date such as "1:56 pm on 8 May, 2023". */
function dateOf(said: string): number {
  const [, hour, minute, half, date] = /(\d+):(\d+) (am|pm) on (.*)/.exec(said) ?? []
  const day = Date.parse(`${date?.replace(',', '')} UTC`)
  return Number.isNaN(day) ? 0 : day + (((Number(hour) % 12) + (half === 'pm' ? 12 : 0)) * 60 + Number(minute)) * 60_000
}
