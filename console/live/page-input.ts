import { callApi } from '../api.ts'

interface Input {
  readonly type: string
  readonly x?: number
  readonly y?: number
  readonly button?: 'left' | 'middle' | 'right'
  readonly clicks?: number
  readonly deltaX?: number
  readonly deltaY?: number
  readonly key?: string
  readonly text?: string
}

/** Batching window of input events, in ms. */
const gatherMs = 50
/** Maximum number of events per request, of queued events, and of characters of text. */
const max = { events: 100, waiting: 1_000, text: 10_000 }
const buttons: readonly ('left' | 'middle' | 'right')[] = ['left', 'middle', 'right']

/** Sends a person's input to the page of a job, in order, one request at a time. */
export class PageInput {
  #project
  #id
  #report
  #waiting: Input[] = []
  #sends = false

  /** @param report called with an error, and with null when it is resolved */
  constructor(project: string, id: string, report: (error: unknown) => void) {
    this.#project = project
    this.#id = id
    this.#report = report
  }

  /** Resolves when all input so far has been sent. */
  async settled() {
    while (this.#sends) await pause(gatherMs)
  }

  add(input: Input) {
    if (input.type === 'mouseMove' && this.#waiting.at(-1)?.type === 'mouseMove') this.#waiting.pop()
    if (this.#waiting.length < max.waiting) this.#waiting.push(input)
    if (!this.#sends) void this.#send()
  }

  /** Sends a typed or pasted text. */
  type(text: string) {
    const letters = [...text]
    for (let at = 0; at < letters.length; at += max.text / 2)
      this.add({ type: 'text', text: letters.slice(at, at + max.text / 2).join('') })
  }

  async #send() {
    this.#sends = true
    await pause(gatherMs)
    while (this.#waiting.length > 0) {
      const events = this.#waiting.splice(0, max.events)
      await callApi(this.#project, 'browser_jobs.input', { params: { jobId: this.#id }, body: { events } }).then(
        () => this.#report(null),
        (error) => this.#report(error),
      )
    }
    this.#sends = false
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * The position of a pointer on the page, in the page's pixels.
 *
 * @param shown position of the picture
 * @param size of the page's window
 */
export const placeOf = (
  { clientX, clientY }: { clientX: number; clientY: number },
  shown: { left: number; top: number; width: number; height: number },
  size: { width: number; height: number },
) => ({
  x: within(((clientX - shown.left) / shown.width) * size.width, size.width),
  y: within(((clientY - shown.top) / shown.height) * size.height, size.height),
})

const within = (at: number, max: number) => Math.min(Math.max(0, Math.round(at)), Math.max(0, max - 1))

/** @param button button of a pointer event */
export const buttonOf = (button: number) => buttons[button === 0 ? 0 : button === 1 ? 1 : 2] ?? 'left'

/** Whether a key leaves the page instead of being sent to it. */
export const leaves = (event: KeyboardEvent) => event.key === 'Escape' && event.shiftKey

/** Whether the user's own browser has to handle a key: pasting arrives as text. */
export const isOwnKey = ({ key, ctrlKey, metaKey }: KeyboardEvent) => (ctrlKey || metaKey) && key.toLowerCase() === 'v'
