import { arrayOf, isObject, objectOf, parseJson, type WireObject } from '#outgoing/wire.ts'

/** Longer chunks are read one by one: what is kept of one stays as long as its stream, in UTF-16 units. */
const longest = 4_096
/** A provider whose chunks differ in more than their text is not followed for longer. */
const mostPatterns = 2
/** V8 keeps a part of a string that is shorter as a copy; a longer one would hold all that came with it. */
const longestCopied = 12
/** What stands for a content to see where it goes. */
const probe = '\u{10FFFF}probe\u{10FFFF}'

/**
 * Most chunks of an answer in OpenAI's format are the same text but for their `content`. Once one of them was parsed, those
 * like it are made of it and of their content: a string in the same place of the same JSON is the same chunk.
 */
export class RepeatedChunk {
  #head = ''
  #tail = ''
  #chunk: WireObject = {}
  #choice: WireObject = {}
  #patterns = 0

  /** The chunk that this text is, as `JSON.parse` has it; null where it has to be parsed. */
  read(data: string): WireObject | null {
    const head = this.#head
    const tail = this.#tail
    if (head === '' || data.length < head.length + tail.length) return null
    // ten times as fast as `startsWith`, which V8 compiles to a loop over what each unit is a part of
    if (data.slice(0, head.length) !== head || data.slice(data.length - tail.length) !== tail) return null
    const content = contentOf(data.slice(head.length, data.length - tail.length))
    return content === null ? null : { ...this.#chunk, choices: [{ ...this.#choice, delta: { content } }] }
  }

  /** Notes a chunk that was parsed: those after it may be like it. */
  note(data: string, chunk: WireObject): void {
    if (this.#patterns >= mostPatterns || data.length > longest) return
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

/** Whether it says something that is noted of an answer beside its text. */
const saysMore = ({ error, usage }: WireObject, { finish_reason, delta }: WireObject): boolean =>
  (error !== undefined && error !== null) ||
  isObject(usage) ||
  typeof finish_reason === 'string' ||
  Object.keys(objectOf(delta)).join() !== 'content'

/** Whether a text between these two is the chunk's content, and not a string somewhere else in it. */
const isContentBetween = (head: string, tail: string): boolean => {
  const [choice] = arrayOf(objectOf(parseJson(`${head}${probe}${tail}`)).choices)
  return objectOf(objectOf(choice).delta).content === probe
}

/** What is written between the quotes of a JSON string; null when it is no whole one. */
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
