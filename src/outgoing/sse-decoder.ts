import { StringDecoder } from 'node:string_decoder'

/** Receives one event of a stream: its `data` lines joined by LF, and its `event` name ('' for none). */
export type SseListener = (data: string, event: string) => void

/** An event exceeds the size limit; the sender is broken or hostile. */
export class SseEventTooLarge extends Error {
  override readonly name = 'SseEventTooLarge'
}

const byteOrderMark = 0xfeff
const defaultMaxEventChars = 16 * 1024 * 1024

/**
 * Incremental decoder of `text/event-stream` as defined by the WHATWG HTML standard, without `id` and `retry`.
 *
 * Chunks may end anywhere: inside a character, between CR and LF, inside a field name. An event is reported as soon as
 * its empty line has arrived; an event that the stream's end cuts off is dropped, as the standard requires.
 */
export class SseDecoder {
  readonly #listener: SseListener
  readonly #maxEventChars: number
  readonly #utf8 = new StringDecoder('utf8')
  #rest = ''
  #splitCharacter = false
  #skipLineFeed = false
  #begun = false
  #data: string | undefined
  #event = ''

  constructor(listener: SseListener, maxEventChars = defaultMaxEventChars) {
    this.#listener = listener
    this.#maxEventChars = maxEventChars
  }

  /** @throws {SseEventTooLarge} and errors of the listener; the decoder must not be used afterwards. */
  push(chunk: Uint8Array): void {
    const text = this.#begin(this.#decode(chunk))
    if (text === '') return
    if (text.includes('\r') || this.#skipLineFeed) this.#scanAnyLineEnds(text)
    else this.#scanLineFeeds(text)
    if (this.#rest.length + (this.#data?.length ?? 0) > this.#maxEventChars) throw new SseEventTooLarge()
  }

  /**
   * Decodes a chunk. One that ends in ASCII is decoded at once; one that may end inside a character needs the slower
   * decoder.
   */
  #decode(chunk: Uint8Array): string {
    const buffer = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const last = buffer[buffer.length - 1]
    if (last === undefined) return ''
    if (!this.#splitCharacter && last < 0x80) return buffer.toString('utf8')
    this.#splitCharacter = last >= 0x80
    return this.#utf8.write(buffer)
  }

  #begin(text: string): string {
    if (this.#begun || text === '') return text
    this.#begun = true
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
  }

  #scanLineFeeds(text: string): void {
    let from = 0
    let end = text.indexOf('\n')
    while (end !== -1) {
      this.#line(this.#takeRest(text.slice(from, end)))
      from = end + 1
      end = text.indexOf('\n', from)
    }
    if (from < text.length) this.#rest += text.slice(from)
  }

  #scanAnyLineEnds(text: string): void {
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code !== 10 && code !== 13) {
        this.#skipLineFeed = false
        continue
      }
      const second = code === 10 && this.#skipLineFeed
      this.#skipLineFeed = code === 13
      if (!second) this.#line(this.#takeRest(text.slice(from, at)))
      from = at + 1
    }
    this.#rest += text.slice(from)
  }

  #takeRest(tail: string): string {
    if (this.#rest === '') return tail
    const line = this.#rest + tail
    this.#rest = ''
    return line
  }

  #line(line: string): void {
    if (line === '') this.#dispatch()
    else if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    } else if (line.startsWith('event:')) this.#event = line.slice(line.charCodeAt(6) === 32 ? 7 : 6)
    else if (line === 'data') this.#data = this.#data === undefined ? '' : `${this.#data}\n`
  }

  #dispatch(): void {
    const data = this.#data
    const event = this.#event
    this.#data = undefined
    this.#event = ''
    if (data !== undefined) this.#listener(data, event)
  }
}
