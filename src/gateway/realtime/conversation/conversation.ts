import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { newId } from '#runtime/index.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'

/** An item in the form of the protocol, without audio: of that the text is kept. */
export type Item = WireObject & { readonly id: string; readonly type: string }

/** A sentence of an answer, and how long it takes to say. */
export interface SpokenPart {
  readonly text: string
  readonly ms: number
}

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
    const at = after === null ? this.#items.length : after === 'root' ? 0 : this.#at(after, 'previous_item_id') + 1
    const added = withoutAudio({ ...item, id, type: textOf(item.type) })
    this.#items.splice(at, 0, added)
    this.#measure(added)
    this.#forget()
    return { item: added, previous: this.#items[this.#items.indexOf(added) - 1]?.id ?? null }
  }

  /** @throws {ServiceError} `not_found` */
  get(id: string): Item {
    const item = this.#items[this.#at(id, 'item_id')]
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

  /** @throws {ServiceError} `not_found` */
  remove(id: string): void {
    this.#drop(this.#at(id, 'item_id'))
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
    const item = this.get(id)
    const parts = this.#spoken.get(id)
    if (parts === undefined) throw invalidField('item_id', 'The item has no audio of an answer.')
    const transcript = heardUntil(parts, ms)
    this.#spoken.delete(id)
    this.replace({ ...item, content: [{ type: 'output_audio', transcript }] })
  }

  #at(id: string, param: string): number {
    const at = this.#items.findIndex((item) => item.id === id)
    if (at < 0) throw new ServiceError('not_found', { param, message: 'The conversation has no such item.' })
    return at
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
