import type { BatchError } from '#machines/batch/batch.ts'
import { isObject } from '#outgoing/wire.ts'
import { maxBatchLineBytes, maxBatchLines } from '#specs/resources/gateway/batches.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'

export interface BatchRequest {
  readonly custom_id: string
  readonly body: object
}

/** Receives requests in groups: the text of those from line `first`, one a line. */
type GroupListener = (first: number, text: string) => Promise<void>

/** The lines of a batch's file. `chunks`: first lines of its groups. */
export interface BatchLines {
  readonly total: number
  readonly chunks: readonly number[]
  readonly errors: readonly BatchError[]
}

/** Maximum number of invalid lines that are listed. */
const maxErrors = 50
/** Length of a group of requests in characters, above which the next one begins. */
const groupLength = 256 * 1024
const maxIdLength = 512
/** Time in ms that lines are checked before other work gets the event loop. */
const budgetMs = 8
const lineEnd = 0x0a

/** Checks the lines of a file, and passes those on that are valid. Blank lines are left out. */
export class LineChecker {
  readonly #endpoint: string
  readonly #listener: GroupListener
  readonly #errors: BatchError[] = []
  readonly #ids = new Set<string>()
  readonly #chunks: number[] = []
  #group: string[] = []
  #length = 0
  #total = 0
  #number = 0

  constructor(endpoint: string, listener: GroupListener) {
    this.#endpoint = endpoint
    this.#listener = listener
  }

  /** @throws what the content or the listener throws */
  async check(content: AsyncIterable<Uint8Array>): Promise<BatchLines> {
    let until = performance.now() + budgetMs
    for await (const line of linesOf(content)) {
      this.#take(line)
      if (this.#errors.length >= maxErrors || this.#total > maxBatchLines) break
      if (this.#length >= groupLength) await this.#pass()
      if (performance.now() < until) continue
      await nextSlice()
      until = performance.now() + budgetMs
    }
    await this.#pass()
    if (this.#total > maxBatchLines)
      this.#refuse(null, ['too_many_lines', `A batch has at most ${maxBatchLines} lines.`])
    if (this.#total === 0 && this.#errors.length === 0) this.#refuse(null, ['empty_file', 'The file has no lines.'])
    return { total: this.#total, chunks: this.#chunks, errors: this.#errors }
  }

  #take(bytes: Uint8Array | 'long'): void {
    this.#number++
    const text = bytes === 'long' ? 'long' : textOf(bytes)
    const wrong = this.#wrongWith(bytes, text)
    if (wrong !== null) this.#refuse(this.#number, wrong)
    else if (text !== null && text.trim() !== '') {
      this.#group.push(text)
      this.#length += text.length
      this.#total++
    }
  }

  #wrongWith(bytes: Uint8Array | 'long', text: string | null): Wrong | null {
    if (bytes === 'long') return ['line_too_long', `A line has at most ${maxBatchLineBytes} bytes.`]
    if (text === null) return ['invalid_utf8', 'The line is not UTF-8.']
    return text.trim() === '' ? null : this.#wrongIn(parsed(text))
  }

  #wrongIn(value: unknown): Wrong | null {
    if (!isObject(value)) return ['invalid_json_line', 'The line is not a JSON object.']
    const { custom_id, method, url, body } = value
    if (typeof custom_id !== 'string' || custom_id === '' || custom_id.length > maxIdLength)
      return ['invalid_custom_id', `custom_id must be a string of 1 to ${maxIdLength} characters.`, 'custom_id']
    if (this.#ids.has(custom_id)) return ['duplicate_custom_id', 'custom_id is that of an earlier line.', 'custom_id']
    this.#ids.add(custom_id)
    if (method !== 'POST') return ['invalid_method', 'method must be POST.', 'method']
    if (url !== this.#endpoint) return ['invalid_url', `url must be ${this.#endpoint}.`, 'url']
    if (!isObject(body)) return ['invalid_body', 'body must be an object.', 'body']
    if (body.stream === true) return ['invalid_body', 'Answers of a batch are not streamed.', 'body.stream']
    if (body.background === true) return ['invalid_body', 'A batch is in the background.', 'body.background']
    return null
  }

  #refuse(line: number | null, [code, message, param]: Wrong): void {
    this.#errors.push({ code, line, message, param: param ?? null })
  }

  async #pass(): Promise<void> {
    if (this.#group.length === 0) return
    const first = this.#total - this.#group.length
    this.#chunks.push(first)
    const text = this.#group.join('\n')
    this.#group = []
    this.#length = 0
    await this.#listener(first, text)
  }
}

type Wrong = readonly [code: string, message: string, param?: string]

const decoder = new TextDecoder('utf-8', { fatal: true })

const textOf = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Yields the lines of a content; `long` for each that is longer than a line may be, which is not kept in memory. */
export async function* linesOf(
  content: AsyncIterable<Uint8Array>,
  maxBytes = maxBatchLineBytes,
): AsyncGenerator<Uint8Array | 'long'> {
  let rest: Uint8Array[] = []
  let length = 0
  const ended = (last: Uint8Array): Uint8Array | 'long' => {
    const whole = length + last.length > maxBytes ? 'long' : Buffer.concat([...rest, last])
    rest = []
    length = 0
    return whole
  }
  for await (const part of content) {
    let from = 0
    for (let end = part.indexOf(lineEnd); end >= 0; end = part.indexOf(lineEnd, from)) {
      yield ended(part.subarray(from, end))
      from = end + 1
    }
    length += part.length - from
    if (length <= maxBytes) rest.push(part.subarray(from))
    else rest = []
  }
  if (length > 0) yield ended(new Uint8Array())
}

/** Returns a request of a batch. @param text a valid line */
export const requestIn = (text: string): BatchRequest => {
  const { custom_id, body } = JSON.parse(text)
  return { custom_id, body }
}
