import { partsOf } from '#facts/index.ts'
import { isObject } from '#runtime/index.ts'
import type { Json, JsonObject } from '#storage/index.ts'
import { states, supersededParts, wordsIn } from '../indexes/superseded-parts.ts'
import { instantIn } from '../instant.ts'
import type { FactData, MemoryData, SupersededPart } from '../kinds.ts'

/** What an export says of a memory beside its content: its id there, and what newer memories had superseded. */
export interface Exported {
  readonly id: string | null
  readonly supersededBy: string | null
  /** Superseded parts by their place in the content, which a redaction may change, with their end in ms. */
  readonly parts: readonly { readonly place: number; readonly end: number; readonly by: string }[]
}

/** Maximum length of an id. */
const maxId = 64

/** Reads what an export says of a memory; parts that its content does not have, or without an end, are left out. */
export function exportedIn({ id, superseded, superseded_by }: JsonObject, content: string): Exported {
  const places = new Map<Json | undefined, number>()
  const listed = Array.isArray(superseded) && superseded.length > 0 ? superseded : null
  const texts = listed === null ? [] : partsOf(content)
  for (const [place, { text }] of texts.entries()) if (!places.has(text)) places.set(text, place)
  const parts = (listed ?? []).slice(0, texts.length).flatMap((item) => {
    if (!isObject(item)) return []
    const place = places.get(item.content) ?? -1
    const end = typeof item.valid_to === 'string' ? instantIn(item.valid_to) : undefined
    const by = idIn(item.superseded_by)
    return place === -1 || end === undefined || by === null ? [] : [{ place, end, by }]
  })
  return { id: idIn(id), supersededBy: idIn(superseded_by), parts }
}

const idIn = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= maxId ? value : null

/** Returns an imported memory with what was superseded in the export. @param ids its memories' new ids, by the old ones. */
export function restored(data: MemoryData, exported: Exported, ids: ReadonlyMap<string, string>): MemoryData {
  const superseded_by =
    data.superseded_by ?? (data.valid_to_ms === null ? null : (ids.get(exported.supersededBy ?? '') ?? null))
  if (exported.parts.length === 0) return { ...data, superseded_by }
  const texts = partsOf(data.content).map(({ text }) => text)
  const known = new Map(supersededParts(data).map((part) => [part.text, part]))
  for (const { place, end, by } of exported.parts) {
    const text = texts[place]
    if (text !== undefined && !known.has(text)) known.set(text, { text, valid_to_ms: end, by: ids.get(by) ?? by })
  }
  const superseded = texts.flatMap((text) => known.get(text) ?? [])
  const stated = superseded.map((part) => ({ ...part, words: wordsIn(part.text) }))
  return { ...data, superseded_by, superseded, facts: data.facts.map((fact) => endedWith(fact, stated)) }
}

/** Ends a fact that a superseded part states. */
function endedWith(fact: FactData, stated: readonly (SupersededPart & { readonly words: string })[]): FactData {
  const object = wordsIn(fact.object)
  const part = stated.find(({ words }) => states(words, object))
  if (part === undefined || fact.valid_to_ms !== null || fact.ended) return fact
  return { ...fact, valid_to_ms: Math.max(part.valid_to_ms, fact.valid_from_ms) }
}
