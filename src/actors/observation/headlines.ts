import type { JsonObject, Storage, StoredLogEvent, StoredRecord } from '#storage/index.ts'
import { sanitizedText } from '../records/sanitize.ts'
import { isObject } from '../runtime/index.ts'
import { logPage } from '../runtime/internal.ts'
import { textOf } from './listed-actor.ts'

/** Most headlines that are kept in memory, and the length of one. */
const maxKnown = 5_000
const maxLength = 90
/** Events at the beginning of a log among which the first message is; a fork begins with its origin. */
const beginning = 4
/** Fields of a run's input that say what it is about, in order of preference. */
const fields = ['prompt', 'task', 'message', 'text', 'question', 'input']

/**
 * What sessions and runs are about: the first words of the first message or of the task. They are read from the logs,
 * whose beginnings never change, so those of earlier releases have headlines as well.
 */
export class Headlines {
  readonly #storage: Pick<Storage, 'commits' | 'blobs'>
  readonly #known = new Map<string, string>()

  constructor(storage: Pick<Storage, 'commits' | 'blobs'>) {
    this.#storage = storage
  }

  /** Returns the headlines of these rows by their ids; one without a message yet has none. */
  async of(rows: readonly Pick<StoredRecord, 'id' | 'project' | 'data'>[]): Promise<ReadonlyMap<string, string>> {
    const found = await Promise.all(rows.map(async (row) => [row.id, await this.#read(row)] as const))
    return new Map(found.flatMap(([id, headline]) => (headline === null ? [] : [[id, headline]])))
  }

  async #read({ id, project, data }: Pick<StoredRecord, 'id' | 'project' | 'data'>): Promise<string | null> {
    // what was deleted has no words left, and none are shown from memory
    if (!/^(ses|run)_/.test(id) || data.status === 'deleted') return null
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const events = await logPage({ storage: this.#storage, actor: id, project }, 0, beginning)
    const headline = events.map(wordsOf).find((words) => words !== null) ?? null
    if (headline !== null) this.#keep(id, headline)
    return headline
  }

  #keep(id: string, headline: string): void {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= maxKnown && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(id, headline)
  }
}

const wordsOf = ({ event_type, payload }: StoredLogEvent): string | null => {
  if (event_type === 'turn.started') return shortened(textOf(payload.input_text)) ?? imagesOf(payload.input)
  if (event_type !== 'run.queued') return null
  const { input } = payload
  return shortened(isObject(input) ? taskOf(input) : textOf(input))
}

/** What a message without words is about. */
const imagesOf = (parts: unknown): string | null => {
  const images = Array.isArray(parts) ? parts.filter((part) => part.type === 'input_image').length : 0
  return images === 0 ? null : images === 1 ? 'An image' : `${images} images`
}

const taskOf = (input: JsonObject): string | null => {
  const named = fields.map((field) => textOf(input[field])).find((text) => text !== null)
  return (
    named ??
    Object.values(input)
      .map(textOf)
      .find((text) => text !== null) ??
    null
  )
}

const shortened = (text: string | null): string | null => {
  const words = sanitizedText((text ?? '').slice(0, 4 * maxLength))
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (words === '') return null
  return words.length > maxLength ? `${words.slice(0, maxLength - 1).trimEnd()}…` : words
}
