import { arrayOf, countOf, isObject, objectOf, parseJson, type WireObject } from '#outgoing/wire.ts'

/** Maximum length of a chunk to be reused, in UTF-16 units; it stays in memory as long as its stream. */
const longest = 4_096
/** Number of patterns to try, for a provider whose chunks differ in more than their text. */
const maxPatterns = 2
/** V8 copies substrings up to this length; a longer one would keep the whole received text in memory. */
const longestCopied = 12
/** Unique text that is put in place of the content to verify its position. */
const probe = '\u{10FFFF}probe\u{10FFFF}'

/**
 * Avoids parsing most chunks of an answer in OpenAI's format, which differ only in their `content`. After one chunk was
 * parsed, those with the same text around the content are built from it: the same JSON with another string at the same
 * position is the same chunk.
 */
export class RepeatedChunk {
  #head = ''
  #tail = ''
  #chunk: WireObject = {}
  #choice: WireObject = {}
  #patterns = 0

  /** Returns the chunk of this text, equal to the result of `JSON.parse`; null when it has to be parsed. */
  read(data: string): WireObject | null {
    const content = this.words(data)
    return content === null ? null : { ...this.#chunk, choices: [{ ...this.#choice, delta: { content } }] }
  }

  /** Whether the repeated chunks are of the first choice. */
  get isOfFirst(): boolean {
    return countOf(this.#choice.index) === 0
  }

  /** Returns only the text of the chunk that `read` would return. */
  words(data: string): string | null {
    const head = this.#head
    const tail = this.#tail
    if (head === '' || data.length < head.length + tail.length) return null
    // ten times as fast as `startsWith`, which V8 runs as a loop over the characters
    if (data.slice(0, head.length) !== head || data.slice(data.length - tail.length) !== tail) return null
    return contentOf(data.slice(head.length, data.length - tail.length))
  }

  /** Notes a parsed chunk as the pattern for those that follow. */
  note(data: string, chunk: WireObject): void {
    if (this.#patterns >= maxPatterns || data.length > longest) return
    const [choice, ...others] = arrayOf(chunk.choices)
    if (!isObject(choice) || others.length > 0 || saysMore(chunk, choice)) return
    const { content } = objectOf(choice.delta)
    if (typeof content !== 'string' || content === '' || data.includes(probe)) return
    this.#patterns++
    const written = JSON.stringify(content)
    const at = data.indexOf(written, data.indexOf('"content"') + '"content"'.length) + 1
    const [head, tail] = [data.slice(0, at), data.slice(at + written.length - 2)]
    if (at === 0 || !isContentBetween(head, tail)) return
    this.#head = head
    this.#tail = tail
    this.#chunk = chunk
    this.#choice = choice
  }
}

/** Whether a chunk has metadata in addition to its text. */
const saysMore = ({ error, usage }: WireObject, { finish_reason, delta }: WireObject): boolean =>
  (error !== undefined && error !== null) ||
  isObject(usage) ||
  typeof finish_reason === 'string' ||
  Object.keys(objectOf(delta)).join() !== 'content'

/** Whether text between these two parts is the content of the chunk, and not another string in it. */
const isContentBetween = (head: string, tail: string): boolean => {
  const [choice] = arrayOf(objectOf(parseJson(`${head}${probe}${tail}`)).choices)
  return objectOf(objectOf(choice).delta).content === probe
}

/** Decodes the content of a JSON string without its quotes; null when it is not a complete string. */
const contentOf = (written: string): string | null => {
  if (written.length <= longestCopied && isPlain(written)) return written
  const content = parseJson(`"${written}"`)
  return typeof content === 'string' ? content : null
}

const isPlain = (written: string): boolean => {
  for (let at = 0; at < written.length; at++) {
    const unit = written.charCodeAt(at)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return false
  }
  return true
}
