import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import type { Collection, Question, Scope, Text } from './collection.ts'
import type { Engine, Searchable, SearchOptions } from './engine.ts'
import { cpuMsOf } from './process-cpu.ts'
import { type Found, foundIn, writtenIn } from './schema.ts'

const key = `csk_${'r'.repeat(40)}`
const maxConcurrent = 50

/**
 * Engine on a server, over HTTP: each scope is a user, each text a memory with its session, speaker and time. Texts
 * that the server refuses to store cannot be found. Texts that it merges into one memory are all found by that memory.
 */
export async function servedEngine(embedderPath: string | null): Promise<Engine> {
  const server = await startServer({
    BOOTSTRAP_SECRET_KEY: key,
    ...(embedderPath !== null && { EMBEDDER_PATH: embedderPath }),
  })
  return {
    name: embedderPath === null ? 'lexical' : 'hybrid',
    open: (collection, scope) => new ServedScope(server, collection, scope).write(),
    cpuMs: () => cpuMsOf(server.pid),
    close: () => server.stop(),
  }
}

class ServedScope implements Searchable {
  readonly #server: Service
  readonly #user: string
  readonly #texts: readonly Text[]
  /** Ids of the texts that each memory represents, by memory. */
  readonly #textsOf = new Map<string, string[]>()

  constructor(server: Service, { name }: Collection, scope: Scope) {
    this.#server = server
    this.#user = `${name} ${scope.name}`
    this.#texts = scope.texts
  }

  async write(): Promise<this> {
    for (let first = 0; first < this.#texts.length; first += maxConcurrent) {
      await this.#writeSome(this.#texts.slice(first, first + maxConcurrent))
    }
    return this
  }

  async search({ text, relevant }: Question, { limit, threshold }: SearchOptions): Promise<Found> {
    const body = { userId: this.#user, query: text.slice(0, 4096), topK: limit, threshold }
    const found = foundIn(await this.#post('search', body))
    const hits = found.map(({ id, score }) => {
      const texts = this.#textsOf.get(id) ?? []
      return { id: texts.find((each) => relevant.has(each)) ?? texts[0] ?? id, score }
    })
    return { hits: hits.slice(0, limit) }
  }

  /** Writes the texts, except those that the server refuses. */
  async #writeSome(texts: readonly Text[]): Promise<void> {
    const memories = texts.map((text) => memoryOf(text))
    const ids = writtenIn(await this.#post('write/batch', { userId: this.#user, wait: true, memories }))
    const stored = ids.flatMap((id, at) => (id === '' ? [] : [{ id, text: texts[at] }]))
    this.#note(
      stored.flatMap(({ text }) => text ?? []),
      stored.map(({ id }) => id),
    )
  }

  #note(texts: readonly Text[], ids: readonly string[]): void {
    for (const [at, id] of ids.entries()) {
      const known = this.#textsOf.get(id) ?? []
      this.#textsOf.set(id, [...known, texts[at]?.id ?? ''])
    }
  }

  async #post(path: string, body: object): Promise<unknown> {
    const answer = await fetch(`${this.#server.url}/v1/memory/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const json: unknown = await answer.json()
    if (answer.ok || answer.status === 422) return json
    throw new Error(`${path}: ${answer.status} ${JSON.stringify(json)}`)
  }
}

const memoryOf = ({ text, group, at, speaker }: Text) => ({
  content: text.slice(0, 32_768) || '-',
  observed_at: new Date(at).toISOString(),
  ...(group !== null && { sessionId: group }),
  ...(speaker && { speaker }),
})
