import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { refusedEvent } from '../server-event.ts'

/** An item in the form of the protocol, without audio: of that the text is kept. */
export type Item = WireObject & { readonly id: string; readonly type: string }

/** A sentence of an answer, and how long it takes to say. */
export interface SpokenPart {
  readonly text: string
  readonly ms: number
}

/** What is done with the item that an event names; null: another item is placed or answered by it. */
type ItemUse = 'retrieve' | 'delete' | 'truncate' | null

const maxItems = 1_000
const maxChars = 4 * 1024 * 1024

/** The items of a session, in order. Beyond its limits the oldest items are forgotten. */
export class Conversation {
  #items: Item[] = []
  readonly #sizes = new Map<string, number>()
  readonly #spoken = new Map<string, readonly SpokenPart[]>()
  #chars = 0

  get items(): readonly Item[] {
    return this.#items
  }

  /**
   * Adds an item after another one, `root` for the beginning; null: at the end.
   *
   * @returns the item with its id, and the id of the one before.
   * @throws {ServiceError} `not_found` for an unknown one before, `invalid_field` for an id that is taken
   */
  add(item: WireObject, after: string | null = null): { readonly item: Item; readonly previous: string | null } {
    const id = textOf(item.id) || newId('item')
    if (this.#sizes.has(id)) throw invalidField('item.id', 'The conversation has an item of this id.')
    const at = after === null ? this.#items.length : after === 'root' ? 0 : this.#at(after, null) + 1
    const added = withoutAudio({ ...item, id, type: textOf(item.type) })
    this.#items.splice(at, 0, added)
    this.#measure(added)
    this.#forget()
    return { item: added, previous: this.before(id) }
  }

  /** Id of the item before another one; null for the first, and for one that has been removed. */
  before(id: string): string | null {
    return this.#items[this.#items.findIndex((item) => item.id === id) - 1]?.id ?? null
  }

  /** @param use the event that names the item, for refusals; null: another one. @throws {ServiceError} `not_found` */
  get(id: string, use: ItemUse = null): Item {
    const item = this.#items[this.#at(id, use, 'item_id')]
    if (item === undefined) throw new ServiceError('not_found', { param: 'item_id' })
    return item
  }

  /** Replaces the content of an item; one that has been removed stays so. */
  replace(item: Item): void {
    const at = this.#items.findIndex(({ id }) => id === item.id)
    if (at < 0) return
    this.#items[at] = item
    this.#measure(item)
  }

  /** Notes the text of a part that is audio; one whose item has been removed is ignored. */
  heard(id: string, index: number, transcript: string): void {
    const item = this.#items.find((each) => each.id === id)
    if (item === undefined) return
    const content = arrayOf(item.content).map((part, at) => (at === index ? { ...objectOf(part), transcript } : part))
    this.replace({ ...item, content })
  }

  /** @throws {ServiceError} `not_found` */
  remove(id: string): void {
    this.#drop(this.#at(id, 'delete'))
  }

  /** Notes how long the sentences of an answer take, for a later truncation. */
  spoken(id: string, parts: readonly SpokenPart[]): void {
    if (this.#sizes.has(id)) this.#spoken.set(id, parts)
  }

  /**
   * Shortens a spoken answer to what was heard until `ms`.
   *
   * @throws {ServiceError} `not_found`; `invalid_field` for an item that was not spoken
   */
  truncate(id: string, ms: number): void {
    const item = this.get(id, 'truncate')
    const parts = this.#spoken.get(id)
    if (parts === undefined) throw invalidField('item_id', 'The item has no audio of an answer.')
    const transcript = heardUntil(parts, ms)
    this.#spoken.delete(id)
    this.replace({ ...item, content: [{ type: 'output_audio', transcript }] })
  }

  #at(id: string, use: ItemUse, param = 'previous_item_id'): number {
    const at = this.#items.findIndex((item) => item.id === id)
    if (at >= 0) return at
    const message = 'The conversation has no such item.'
    if (use === null) throw new ServiceError('not_found', { param, message })
    throw refusedEvent('not_found', `item_${use}_invalid_item_id`, { param: 'item_id', message })
  }

  #measure(item: Item): void {
    const size = JSON.stringify(item).length
    this.#chars += size - (this.#sizes.get(item.id) ?? 0)
    this.#sizes.set(item.id, size)
  }

  #forget(): void {
    while (this.#items.length > maxItems || (this.#chars > maxChars && this.#items.length > 1)) this.#drop(0)
  }

  #drop(at: number): void {
    const [dropped] = this.#items.splice(at, 1)
    if (dropped === undefined) return
    this.#chars -= this.#sizes.get(dropped.id) ?? 0
    this.#sizes.delete(dropped.id)
    this.#spoken.delete(dropped.id)
  }
}

const withoutAudio = (item: Item): Item => {
  if (item.type !== 'message') return item
  const content = arrayOf(item.content).map((each) => {
    const { audio: _, ...part } = objectOf(each)
    return part
  })
  return { ...item, object: 'realtime.item', content }
}

/** The text of the sentences that were said until `ms`; of the last one the words that were. */
const heardUntil = (parts: readonly SpokenPart[], ms: number): string => {
  let left = ms
  let heard = ''
  for (const { text, ms: length } of parts) {
    if (length > left) {
      const chars = Math.floor((text.length * Math.max(0, left)) / length)
      return heard + text.slice(0, text.lastIndexOf(' ', chars) + 1)
    }
    heard += text
    left -= length
  }
  return heard
}
