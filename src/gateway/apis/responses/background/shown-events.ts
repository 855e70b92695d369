import { arrayOf, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import type { SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { LogEvent } from '#storage/index.ts'
import type { ResponseDocument } from '../response-document.ts'
import type { Emit } from '../response-output.ts'
import { beginnings, frameOf, restFrames } from '../stored-stream.ts'

/** In an event, a text that is the deltas before it; another text that begins so has it twice. */
const same = '\0'

/** Events of one attempt to make a response are numbered within so many. */
const perAttempt = 1_000_000

/**
 * Returns the receiver of a response's events that shows each as a line of JSON: its type and fields, or only its
 * `delta` if the rest is that of the delta before.
 */
export const shownBy = (show: (text: string) => void): Emit => {
  let place = ''
  let run = ''
  return (type, fields) => {
    const { delta, ...rest } = fields
    const at = typeof delta === 'string' ? JSON.stringify([type, rest]) : ''
    if (typeof delta === 'string' && at === place) {
      run += delta
      show(`${JSON.stringify(delta)}\n`)
      return
    }
    show(
      `${JSON.stringify([type, fields], (_, value) => (typeof value === 'string' ? shortened(value, run) : value))}\n`,
    )
    if (typeof delta === 'string') [place, run] = [at, delta]
  }
}

const shortened = (text: string, run: string): string =>
  text === run && text !== '' ? same : text.startsWith(same) ? `${same}${text}` : text

/** The number of the last event that a reader has, and the attempt that there is when it begins to read. */
interface Joined {
  readonly after: number | undefined
  readonly attempt: number
}

/**
 * The events of a response for one reader, from what is shown of it. A reader has the deltas of one attempt to make the
 * response. If a crash has cut that, its next event is the last one, which has the whole output.
 */
export class ShownEvents {
  readonly #write: (frame: string) => void
  readonly #after: number
  #attempt: number
  /** Whether the reader has events of an earlier attempt than this one. */
  #isCut: boolean
  #hasSome: boolean
  /** Number of events of the attempt so far. */
  #count = 0
  /** The newest event with the first of several deltas. */
  #last: WireObject = {}
  #run = ''

  constructor({ after = -1, attempt }: Joined, write: (frame: string) => void) {
    this.#write = write
    this.#after = after
    this.#attempt = attempt
    this.#hasSome = after >= beginnings
    this.#isCut = this.#hasSome && Math.floor(after / perAttempt) < attempt
  }

  /** Takes an event of the response's log. Yields after each of its frames. */
  *take({ payload: { delta, attempt = 0 } }: LogEvent): SlicedWork<void> {
    if (typeof delta !== 'string' || typeof attempt !== 'number' || attempt < this.#attempt) return
    if (attempt > this.#attempt) {
      this.#isCut ||= this.#hasSome
      this.#attempt = attempt
      this.#count = 0
      this.#run = ''
    }
    for (const line of delta.split('\n')) {
      if (line !== '') this.#take(line)
      yield
    }
  }

  /** Writes the last event; the events of the document before, if none was shown. */
  end(document: ResponseDocument): void {
    const isLastOnly = this.#isCut || this.#count > 0
    this.#write(restFrames(document, { after: this.#after, first: this.#number, isLastOnly }))
  }

  get #number(): number {
    return this.#attempt * perAttempt + beginnings + this.#count
  }

  #take(line: string): void {
    if (line.startsWith('"')) {
      const delta = textOf(parseJson(line))
      this.#run += delta
      this.#emit({ ...this.#last, delta })
      return
    }
    const read = JSON.parse(line, (_, value) => (typeof value === 'string' ? this.#whole(value) : value))
    const [type, fields] = arrayOf(read)
    const event = { type, ...objectOf(fields) }
    const { delta } = objectOf(fields)
    if (typeof delta === 'string') [this.#last, this.#run] = [event, delta]
    this.#emit(event)
  }

  #whole(text: string): string {
    return text.startsWith(same) ? text.slice(same.length) || this.#run : text
  }

  #emit({ type, ...fields }: WireObject): void {
    const number = this.#number
    this.#count++
    if (this.#isCut || number <= this.#after) return
    this.#hasSome = true
    this.#write(frameOf([String(type), fields], number))
  }
}
