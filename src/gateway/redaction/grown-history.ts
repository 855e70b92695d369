import { arrayOf, type WireObject } from '#outgoing/wire.ts'
import type { ChatBody } from '../call/chat-calls.ts'

/** The conversation of a chat body, by a list that only grows and whose messages never change. */
export interface GrownHistory {
  /** What it is known by. */
  readonly list: readonly object[]
  /** The message at a place of the list, as the body has it. */
  readonly at: (place: number) => WireObject
  /** The body without the list's messages: those that it has stand before them. */
  readonly rest: ChatBody
}

/** What was found in the first messages of a list. */
interface Looked {
  /** Of the policy: by another one something else is found. */
  readonly key: string
  count: number
  last: object | undefined
  /** Places of messages in which something was found, in order. */
  readonly found: number[]
}

const known = new WeakMap<readonly object[], Looked>()

/**
 * What a turn has to look at of a conversation: messages in which something was found before, and those that are new. The
 * others say nothing that changes how these are redacted.
 */
export class HistoryLook {
  /** Places in the list, in order. */
  readonly places: readonly number[]
  /** What is looked at, as a body of its own. */
  readonly body: ChatBody
  readonly #history: GrownHistory
  readonly #looked: Looked
  readonly #messages: readonly WireObject[]
  readonly #before: readonly unknown[]

  /** @param key of the policy. */
  constructor(history: GrownHistory, key: string) {
    const { list, at, rest } = history
    this.#history = history
    this.#looked = lookedOf(list, key)
    const { found, count } = this.#looked
    this.places = [...found, ...Array.from({ length: list.length - count }, (_, next) => count + next)]
    this.#messages = this.places.map(at)
    this.#before = arrayOf(rest.messages)
    this.body = { ...rest, messages: [...this.#before, ...this.#messages] }
  }

  /**
   * Notes in which of the messages something was found.
   *
   * @param redacted `body` after it was redacted.
   * @param isFound whether a message has to be looked at again although it was not changed.
   */
  note(redacted: ChatBody, isFound: (message: WireObject) => boolean): void {
    const { list } = this.#history
    const looked = this.#looked
    const after = arrayOf(redacted.messages).slice(this.#before.length)
    // another call of the conversation may have noted the same
    for (let index = this.places.indexOf(looked.count); index >= 0 && index < this.places.length; index++) {
      const [place, message] = [this.places[index], this.#messages[index]]
      if (place === undefined || message === undefined) break
      if (after[index] !== message || isFound(message)) looked.found.push(place)
      looked.count = place + 1
      looked.last = list[place]
    }
  }

  /** The whole body, from what was made of `body`. */
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

const lookedOf = (list: readonly object[], key: string): Looked => {
  const looked = known.get(list)
  if (looked?.key === key && list[looked.count - 1] === looked.last) return looked
  const made: Looked = { key, count: 0, last: undefined, found: [] }
  known.set(list, made)
  return made
}
