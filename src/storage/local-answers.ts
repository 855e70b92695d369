import {
  type AnswerPlace,
  type AnswerStore,
  answerOverhead,
  type FoundAnswers,
  type KeptAnswer,
  maxAnswerBytes,
} from './answer-store.ts'
import type { SteadyClock } from './local-limits.ts'

/** Time in ms after which answers that have expired are removed, whether or not they are read. */
const sweepMs = 60_000
/** Number of projects whose marks are kept. */
const maxMarks = 10_000

interface Entry {
  readonly text: string
  readonly bytes: number
  readonly until: number
}

/** Answers of a lane; the most recently used one is last. */
interface Lane {
  bytes: number
  readonly entries: Map<string, Entry>
}

interface Share {
  bytes: number
  readonly lanes: Map<string, Lane>
}

/** Answers in the memory of this process. */
export class LocalAnswers implements AnswerStore {
  readonly #projects = new Map<string, Share>()
  readonly #marks = new Map<string, number>()
  readonly #clock: SteadyClock
  readonly #maxBytes: number
  #bytes = 0
  #marked = 0
  #sweptAt = 0

  constructor(clock: SteadyClock, maxBytes: number = maxAnswerBytes) {
    this.#clock = clock
    this.#maxBytes = maxBytes
    this.#sweptAt = clock.steady()
  }

  read({ project, lane }: AnswerPlace, keys: readonly string[]): FoundAnswers {
    const now = this.#clock.steady()
    const found = this.#projects.get(project)?.lanes.get(lane)
    const values = keys.map((key) => {
      const entry = found?.entries.get(key)
      if (found === undefined || entry === undefined) return null
      if (entry.until <= now) {
        this.#remove(project, lane, key)
        return null
      }
      found.entries.delete(key)
      found.entries.set(key, entry)
      return entry.text
    })
    return { values, mark: this.#marks.get(project) ?? 0 }
  }

  async put({ project, lane }: AnswerPlace, key: string, { text, ttlMs, mark }: KeptAnswer): Promise<void> {
    if (mark !== (this.#marks.get(project) ?? 0)) return
    const now = this.#clock.steady()
    if (now - this.#sweptAt >= sweepMs) this.#sweep(now)
    this.#remove(project, lane, key)
    const share = this.#projects.get(project) ?? { bytes: 0, lanes: new Map<string, Lane>() }
    this.#projects.set(project, share)
    const found = share.lanes.get(lane) ?? { bytes: 0, entries: new Map<string, Entry>() }
    share.lanes.set(lane, found)
    const bytes = Buffer.byteLength(text) + answerOverhead
    found.entries.set(key, { text, bytes, until: now + ttlMs })
    found.bytes += bytes
    share.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes) this.#evict()
  }

  async forget(project: string, lanes = ''): Promise<void> {
    this.#marks.delete(project)
    this.#marks.set(project, ++this.#marked)
    const [oldest] = this.#marks.keys()
    if (this.#marks.size > maxMarks && oldest !== undefined) this.#marks.delete(oldest)
    for (const [lane, { entries }] of this.#projects.get(project)?.lanes ?? [])
      if (lane.startsWith(lanes)) for (const key of entries.keys()) this.#remove(project, lane, key)
  }

  #remove(project: string, lane: string, key: string): void {
    const share = this.#projects.get(project)
    const found = share?.lanes.get(lane)
    const entry = found?.entries.get(key)
    if (share === undefined || found === undefined || entry === undefined) return
    found.entries.delete(key)
    found.bytes -= entry.bytes
    share.bytes -= entry.bytes
    this.#bytes -= entry.bytes
    if (found.entries.size === 0) share.lanes.delete(lane)
    if (share.lanes.size === 0) this.#projects.delete(project)
  }

  #evict(): void {
    const [project, share] = largest(this.#projects)
    const [lane, { entries }] = largest(share.lanes)
    const [key = ''] = entries.keys()
    this.#remove(project, lane, key)
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [project, { lanes }] of this.#projects)
      for (const [lane, { entries }] of lanes)
        for (const [key, { until }] of entries) if (until <= now) this.#remove(project, lane, key)
  }
}

const largest = <T extends { readonly bytes: number }>(all: ReadonlyMap<string, T>): readonly [string, T] => {
  let found: readonly [string, T] | undefined
  for (const each of all) if (found === undefined || each[1].bytes > found[1].bytes) found = each
  if (found === undefined) throw new Error('nothing is stored')
  return found
}
