import { arrayOf, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'

/** The conversation of a chat body as an append-only list whose messages never change. */
export interface AppendOnlyHistory {
  /** The list itself; scan results are cached by its identity. */
  readonly list: readonly object[]
  /** Returns the message at an index of the list, as it is in the body. */
  readonly at: (place: number) => WireObject
  /** The body without the messages of the list. Messages it still has come before those of the list. */
  readonly rest: ChatBody
}

/** Scan results for the first `count` messages of a list. */
interface Scanned {
  /** Key of the policy. A different policy finds different data. */
  readonly key: string
  count: number
  last: object | undefined
  /** Indices of messages in which something was found, ascending. */
  readonly found: number[]
}

const known = new WeakMap<readonly object[], Scanned>()

/**
 * The messages of a conversation that a request has to scan: those in which something was found before, and new ones.
 * The other messages have no effect on how these are redacted.
 */
export class HistoryScan {
  /** Indices in the list, ascending. */
  readonly places: readonly number[]
  /** The messages to scan, as a separate body. */
  readonly body: ChatBody
  readonly #history: AppendOnlyHistory
  readonly #scanned: Scanned
  readonly #messages: readonly WireObject[]
  readonly #before: readonly unknown[]

  /** @param key key of the policy. */
  constructor(history: AppendOnlyHistory, key: string) {
    const { list, at, rest } = history
    this.#history = history
    this.#scanned = scannedOf(list, key)
    const { found, count } = this.#scanned
    this.places = [...found, ...Array.from({ length: list.length - count }, (_, next) => count + next)]
    this.#messages = this.places.map(at)
    this.#before = arrayOf(rest.messages)
    this.body = { ...rest, messages: [...this.#before, ...this.#messages] }
  }

  /**
   * Records in which messages something was found.
   *
   * @param redacted `body` after redaction.
   * @param isFound whether a message has to be scanned again although it was not changed.
   */
  note(redacted: ChatBody, isFound: (message: WireObject) => boolean): void {
    const { list } = this.#history
    const scanned = this.#scanned
    const after = arrayOf(redacted.messages).slice(this.#before.length)
    // a concurrent call of the same conversation may have recorded these already
    for (let index = this.places.indexOf(scanned.count); index >= 0 && index < this.places.length; index++) {
      const [place, message] = [this.places[index], this.#messages[index]]
      if (place === undefined || message === undefined) break
      if (after[index] !== message || isFound(message)) scanned.found.push(place)
      scanned.count = place + 1
      scanned.last = list[place]
    }
  }

  /** Returns the whole body, with the messages of a redacted `body` put back in their places. */
  whole(redacted: ChatBody): ChatBody {
    const made = arrayOf(redacted.messages)
    const { length } = this.#before
    const after = new Map(this.places.map((place, index) => [place, made[length + index]]))
    const { list, at } = this.#history
    return {
      ...redacted,
      messages: [...made.slice(0, length), ...list.map((_, place) => after.get(place) ?? at(place))],
    }
  }
}

const scannedOf = (list: readonly object[], key: string): Scanned => {
  const scanned = known.get(list)
  if (scanned?.key === key && list[scanned.count - 1] === scanned.last) return scanned
  const made: Scanned = { key, count: 0, last: undefined, found: [] }
  known.set(list, made)
  return made
}
