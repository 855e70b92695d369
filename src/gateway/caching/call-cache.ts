import { isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import type { AnswerPlace, AnswerStore } from '#storage/index.ts'
import type { Reuse } from '../call/reuse.ts'
import { isComplete } from './cacheable.ts'

/** Most characters of a stored answer. */
export const maxStoredChars = 256 * 1024

/** A stored answer. */
export interface StoredAnswer {
  /** The document as its provider sent it: with placeholders instead of personal data. */
  readonly answer: WireObject
  /** ms since the epoch. */
  readonly at: number
  readonly costUsd: string | null
}

/** Where the answer to a call is to be stored. */
export interface Shelf {
  readonly store: AnswerStore
  readonly place: AnswerPlace
  readonly key: string
  readonly ttlMs: number
  /** The mark of the read before the call. */
  readonly mark: number
  readonly now: () => number
  /** Called when the answer was stored. */
  readonly stored?: (() => Promise<void>) | undefined
}

/** The stored answer of one call, or the place for its new one. */
export class CallCache implements Reuse {
  readonly status: Reuse['status']
  /** The stored answer; null: the call has to be made. */
  readonly answer: WireObject | null
  readonly savedUsd: string | null
  readonly ageS: number | null
  readonly #shelf: Shelf | null

  private constructor(status: Reuse['status'], hit: StoredAnswer | null, parts: { shelf: Shelf | null; now: number }) {
    this.status = status
    this.answer = hit?.answer ?? null
    this.savedUsd = hit?.costUsd ?? null
    this.ageS = hit === null ? null : Math.max(0, Math.floor((parts.now - hit.at) / 1000))
    this.#shelf = parts.shelf
  }

  static hit(stored: StoredAnswer, now: number): CallCache {
    return new CallCache('hit', stored, { shelf: null, now })
  }

  /** A call that is made. @param shelf null: its answer is not stored. */
  static made(status: 'miss' | 'bypass', shelf: Shelf | null = null): CallCache {
    return new CallCache(status, null, { shelf, now: 0 })
  }

  /** Whether the answer is stored if it is complete. */
  get keeps(): boolean {
    return this.#shelf !== null
  }

  /**
   * Stores the complete answer of a call that has succeeded, in the background.
   *
   * @param answer as the provider sent it, before personal data is restored.
   */
  keep(answer: WireObject, costUsd: string | null): void {
    const shelf = this.#shelf
    if (shelf === null || !isComplete(answer)) return
    const text = JSON.stringify({ at: shelf.now(), cost_usd: costUsd, answer })
    if (text.length > maxStoredChars) return
    const { store, place, key, ttlMs, mark, stored } = shelf
    // a cache that cannot be written only costs the next call
    void store
      .put(place, key, { text, ttlMs, mark })
      .then(stored)
      .catch(() => {})
  }
}

/** Reads a stored answer; null for none, and for one that is older than `maxAgeMs`. */
export const storedAnswer = (text: string | null, now: number, maxAgeMs: number): StoredAnswer | null => {
  const { at, cost_usd, answer } = objectOf(text === null ? null : parseJson(text))
  if (typeof at !== 'number' || !isObject(answer) || now - at > maxAgeMs) return null
  return { answer, at, costUsd: typeof cost_usd === 'string' ? textOf(cost_usd) : null }
}
