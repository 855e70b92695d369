import { isUtf8 } from 'node:buffer'
import type { BatchError } from '#machines/batch/batch.ts'
import { maxValuesOfShort, parseJson } from '#outgoing/shares/json-body.ts'
import { isObject, objectOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxBatchLineBytes, maxBatchLines } from '#specs/resources/gateway/batches.ts'
import { inShares } from '#src/concurrency/run-in-slices.ts'

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
/** Lines of a file, with blank ones. */
const maxFileLines = 2 * maxBatchLines
const lineEnd = 0x0a
const space = 0x20
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

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
    for await (const line of inShares(linesOf(content))) {
      await this.#take(line)
      if (this.#errors.length >= maxErrors || this.#isTooLong) break
      if (this.#length >= groupLength) await this.#pass()
    }
    await this.#pass()
    if (this.#isTooLong) this.#refuse(null, ['too_many_lines', `A batch has at most ${maxBatchLines} lines.`])
    if (this.#total === 0 && this.#errors.length === 0) this.#refuse(null, ['empty_file', 'The file has no lines.'])
    return { total: this.#total, chunks: this.#chunks, errors: this.#errors }
  }

  get #isTooLong(): boolean {
    return this.#total > maxBatchLines || this.#number > maxFileLines
  }

  async #take(line: Buffer | 'long'): Promise<void> {
    this.#number++
    if (line !== 'long' && isBlank(line)) return
    const read = await readLine(line)
    const wrong = 'wrong' in read ? read.wrong : this.#wrongIn(read.value)
    if (wrong !== null) this.#refuse(this.#number, wrong)
    else if ('text' in read) {
      this.#group.push(read.text)
      this.#length += read.text.length
      this.#total++
    }
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

type Wrong = readonly [code: string, message: string, param?: string | null]

/** A line with the JSON in it, or what is wrong with it. */
type ReadLine = { readonly text: string; readonly value: unknown } | { readonly wrong: Wrong }

const isBlank = (line: Buffer): boolean => !line.some((byte) => byte > space)

/** Reads a line within the bounds of a request's body: a line that exceeds them would be refused as one. */
const readLine = async (line: Buffer | 'long'): Promise<ReadLine> => {
  if (line === 'long') return { wrong: ['line_too_long', `A line has at most ${maxBatchLineBytes} bytes.`] }
  const bytes = line.indexOf(byteOrderMark) === 0 ? line.subarray(byteOrderMark.length) : line
  if (!isUtf8(bytes)) return { wrong: ['invalid_utf8', 'The line is not UTF-8.'] }
  try {
    return { value: await parseJson(bytes, maxValuesOfShort), text: bytes.toString('utf8') }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, message, details } = error
    const name = code === 'body_too_large' ? 'too_many_values' : 'invalid_json_line'
    return { wrong: [name, message.replace('body', 'line'), details.param ?? null] }
  }
}

/** Yields the lines of a content; `long` for each that is longer than a line may be, which is not kept in memory. */
export async function* linesOf(
  content: AsyncIterable<Uint8Array>,
  maxBytes = maxBatchLineBytes,
): AsyncGenerator<Buffer | 'long'> {
  let rest: Uint8Array[] = []
  let length = 0
  const ended = (last: Uint8Array): Buffer | 'long' => {
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

/** Yields the names of the requests in a file that was not checked; a line that is no request has none. */
export async function* namesIn(content: AsyncIterable<Uint8Array>): AsyncGenerator<Pick<BatchRequest, 'custom_id'>> {
  for await (const line of inShares(linesOf(content))) {
    const read = await readLine(line)
    const { custom_id } = 'wrong' in read ? {} : objectOf(read.value)
    if (typeof custom_id === 'string') yield { custom_id }
  }
}
