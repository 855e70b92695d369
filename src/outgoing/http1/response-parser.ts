/** Events of one answer, in order. Buffers are valid only until the call returns. */
export interface ResponseListener {
  head(status: number, headers: Readonly<Record<string, string>>): void
  data(bytes: Buffer): void
  /** The answer is complete. @param reusable whether the connection can take another request. */
  end(reusable: boolean): void
}

/** The server violates HTTP/1.1. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse'
}

const maxHeadBytes = 64 * 1024
const maxLineLength = 1024
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Maximum number of digits on the fast path; longer sizes are left to the line parser, which checks limits. */
const maxPlainDigits = 6

/** Value of a byte as a hexadecimal digit; 255 for other bytes. */
const hexDigits = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(digit) ? 255 : digit
})

type State = 'head' | 'length' | 'until close' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'over'

/**
 * Parses the answers of one HTTP/1.1 connection (RFC 9112), however they are split into network reads. Strict where two
 * parsers could disagree on the end of an answer: such an answer is refused.
 */
export class ResponseParser {
  readonly #listener: ResponseListener
  /** Range of this read's chunk contents, moved next to each other; `to` is 0 while there are none. */
  #from = 0
  #to = 0
  #state: State = 'head'
  #pending: Buffer | null = null
  #left = 0
  #line = ''
  #trailerBytes = 0
  #reusable = true

  constructor(listener: ResponseListener) {
    this.#listener = listener
  }

  /** Prepares for the next answer. */
  reset(): void {
    this.#state = 'head'
    this.#pending = null
    this.#line = ''
    this.#trailerBytes = 0
    this.#reusable = true
  }

  /**
   * Parses received bytes. The parser takes ownership of the buffer: it joins chunk contents in place, so that many
   * small chunks that arrive together cost no more than a large one.
   *
   * @throws {MalformedResponse} and errors of the listener; the connection must not be used afterwards.
   */
  push(bytes: Buffer): void {
    let source = bytes
    let at = 0
    if (this.#state === 'head') {
      source = this.#pending === null ? bytes : Buffer.concat([this.#pending, bytes])
      at = this.#head(source)
      if (at < 0) return
    }
    try {
      this.#rest(source, at)
    } finally {
      this.#give(source)
    }
  }

  #rest(bytes: Buffer, from: number): void {
    let at = this.#wholeChunks(bytes, from)
    while (at < bytes.length) {
      if (this.#state === 'over') throw new MalformedResponse('bytes after the end of the answer')
      if (this.#state === 'head') {
        this.push(bytes.subarray(at))
        return
      }
      at = this.#wholeChunks(bytes, this.#body(bytes, at))
    }
  }

  /**
   * Fast path for complete chunks in the usual form, byte by byte, since parsing line by line costs four times as much.
   * @returns the position after them; everything else is left to the slow path.
   */
  #wholeChunks(bytes: Buffer, from: number): number {
    if (this.#state !== 'chunk size' || this.#line !== '') return from
    let at = from
    for (let begin = sizeLineEnd(bytes, at); begin > 0; begin = sizeLineEnd(bytes, at)) {
      const end = begin + sizeIn(bytes, at, begin - 2)
      if (end === begin || end + 2 > bytes.length || bytes[end] !== carriageReturn || bytes[end + 1] !== lineFeed) break
      this.#join(bytes, begin, end)
      at = end + 2
    }
    return at
  }

  #isOver(): boolean {
    return this.#state === 'over'
  }

  /** Called when the server has closed the connection. @returns whether that completes the answer. */
  finish(): boolean {
    if (this.#state !== 'until close') return false
    this.#end()
    return true
  }

  /** @returns the position where the body starts; -1 while the head is incomplete. */
  #head(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0) {
      if (bytes.length > maxHeadBytes) throw new MalformedResponse('the head is too long')
      this.#pending = Buffer.from(bytes)
      return -1
    }
    this.#pending = null
    this.#readHead(bytes.toString('latin1', 0, end))
    return end + 4
  }

  #readHead(text: string): void {
    const end = text.indexOf('\r\n')
    const line = end < 0 ? text : text.slice(0, end)
    if (!statusLine.test(line)) throw new MalformedResponse('no status line')
    const status = Number(line.slice(9, 12))
    const headers = headersOf(text, line.length)
    if (status < 200) {
      if (status === 101) throw new MalformedResponse('nobody asked for another protocol')
      return
    }
    const connection = headers.connection?.toLowerCase() ?? ''
    this.#reusable = line[7] === '1' ? !connection.includes('close') : connection.includes('keep-alive')
    this.#state = this.#bodyBy(status, headers)
    this.#listener.head(status, headers)
    if (this.#state === 'over' || (this.#state === 'length' && this.#left === 0)) this.#end()
  }

  #bodyBy(status: number, headers: Readonly<Record<string, string>>): State {
    if (status === 204 || status === 304) return 'over'
    const { 'transfer-encoding': encoding, 'content-length': length } = headers
    if (encoding !== undefined) {
      if (encoding.toLowerCase() !== 'chunked' || length !== undefined) throw new MalformedResponse('unclear length')
      return 'chunk size'
    }
    if (length === undefined) {
      this.#reusable = false
      return 'until close'
    }
    if (!/^\d{1,15}$/.test(length)) throw new MalformedResponse('unclear length')
    this.#left = Number(length)
    return 'length'
  }

  /** @returns the position after the parsed bytes. */
  #body(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'length':
      case 'chunk':
        return this.#counted(bytes, at)
      case 'until close':
        this.#listener.data(at === 0 ? bytes : bytes.subarray(at))
        return bytes.length
      default:
        return this.#lineOf(bytes, at)
    }
  }

  #counted(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    const isLast = this.#left === 0
    if (this.#state === 'length') {
      this.#listener.data(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
      if (isLast) this.#end()
      return end
    }
    if (isLast) this.#state = 'chunk end'
    this.#join(bytes, at, end)
    return end
  }

  /** Appends a piece of a chunk to the preceding ones. */
  #join(bytes: Buffer, from: number, to: number): void {
    if (this.#to === 0) this.#from = from
    else bytes.copyWithin(this.#to, from, to)
    this.#to = (this.#to === 0 ? from : this.#to) + to - from
  }

  /** Reports the joined chunk contents of this read. */
  #give(bytes: Buffer): void {
    if (this.#to === 0) return
    const [from, to] = [this.#from, this.#to]
    this.#to = 0
    this.#listener.data(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to))
  }

  /** Parses the lines of the chunked encoding. */
  #lineOf(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineFeed, at)
    this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
    if (this.#line.length > maxLineLength) throw new MalformedResponse('a line is too long')
    if (end < 0) return bytes.length
    if (!this.#line.endsWith('\r')) throw new MalformedResponse('a line without its end')
    const line = this.#line.slice(0, -1)
    this.#line = ''
    this.#chunkLine(line)
    if (this.#isOver()) {
      this.#give(bytes)
      this.#end()
    }
    return end + 1
  }

  #chunkLine(line: string): void {
    if (this.#state === 'chunk end') {
      if (line !== '') throw new MalformedResponse('a chunk is longer than it says')
      this.#state = 'chunk size'
      return
    }
    if (this.#state === 'trailer') {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > maxHeadBytes) throw new MalformedResponse('the trailer is too long')
      if (line === '') this.#state = 'over'
      return
    }
    const [, size] = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line) ?? []
    if (size === undefined) throw new MalformedResponse('no chunk size')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailer' : 'chunk'
  }

  #end(): void {
    this.#state = 'over'
    this.#listener.end(this.#reusable)
  }
}

/** Returns the position after a line with only a chunk size; 0 when there is none here, or it is incomplete. */
const sizeLineEnd = (bytes: Buffer, from: number): number => {
  let at = from
  const max = Math.min(bytes.length - 2, from + maxPlainDigits)
  while (at < max && (hexDigits[bytes[at] ?? 0] ?? 255) < 16) at++
  return at > from && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed ? at + 2 : 0
}

const sizeIn = (bytes: Buffer, from: number, to: number): number => {
  let size = 0
  for (let at = from; at < to; at++) size = size * 16 + (hexDigits[bytes[at] ?? 0] ?? 0)
  return size
}

const statusLine = /^HTTP\/1\.[01] [1-5]\d\d(?: |$)/

/**
 * Parses headers; names are in lower case. Values of repeated fields are joined; repeated lengths have to be equal.
 *
 * @param before end of the status line.
 */
const headersOf = (text: string, before: number): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = Object.create(null)
  for (let start = before + 2; start < text.length; ) {
    const next = text.indexOf('\r\n', start)
    const end = next < 0 ? text.length : next
    const colon = text.indexOf(':', start)
    if (colon <= start || colon >= end || text[colon - 1] === ' ' || text[start] === ' ' || text[start] === '\t')
      throw new MalformedResponse('a header that is none')
    const name = text.slice(start, colon).toLowerCase()
    const value = text.slice(colon + 1, end).trim()
    start = end + 2
    const known = headers[name]
    if (known === undefined) headers[name] = value
    else if (name !== 'content-length') headers[name] = `${known}, ${value}`
    else if (known !== value) throw new MalformedResponse('unclear length')
  }
  return headers
}
