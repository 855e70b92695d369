import { callApi } from '../api.js'

/** @typedef {{ type: string, x?: number, y?: number, button?: 'left' | 'middle' | 'right', clicks?: number, deltaX?: number, deltaY?: number, key?: string, text?: string }} Input */

/** Batching window of input events, in ms. */
const gatherMs = 50
/** Maximum number of events per request, of queued events, and of characters of text. */
const max = { events: 100, waiting: 1_000, text: 10_000 }
/** @type {readonly ('left' | 'middle' | 'right')[]} */
const buttons = ['left', 'middle', 'right']

/** Sends a person's input to the page of a job, in order, one request at a time. */
export class PageInput {
  #project
  #id
  #report
  /** @type {Input[]} */
  #waiting = []
  #sends = false

  /** @param {string} project @param {string} id @param {(error: unknown) => void} report called with an error, and with null when it is resolved */
  constructor(project, id, report) {
    this.#project = project
    this.#id = id
    this.#report = report
  }

  /** Resolves when all input so far has been sent. */
  async settled() {
    while (this.#sends) await pause(gatherMs)
  }

  /** @param {Input} input */
  add(input) {
    if (input.type === 'mouseMove' && this.#waiting.at(-1)?.type === 'mouseMove') this.#waiting.pop()
    if (this.#waiting.length < max.waiting) this.#waiting.push(input)
    if (!this.#sends) void this.#send()
  }

  /** Sends a typed or pasted text. @param {string} text */
  type(text) {
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

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * The position of a pointer on the page, in the page's pixels.
 *
 * @param {{ clientX: number, clientY: number }} pointer
 * @param {{ left: number, top: number, width: number, height: number }} shown position of the picture
 * @param {{ width: number, height: number }} size of the page's window
 */
export const placeOf = ({ clientX, clientY }, shown, size) => ({
  x: within(((clientX - shown.left) / shown.width) * size.width, size.width),
  y: within(((clientY - shown.top) / shown.height) * size.height, size.height),
})

/** @param {number} at @param {number} max */
const within = (at, max) => Math.min(Math.max(0, Math.round(at)), Math.max(0, max - 1))

/** @param {number} button button of a pointer event */
export const buttonOf = (button) => buttons[button === 0 ? 0 : button === 1 ? 1 : 2] ?? 'left'

/** Whether a key leaves the page instead of being sent to it. @param {KeyboardEvent} event */
export const leaves = (event) => event.key === 'Escape' && event.shiftKey

/** Whether the user's own browser has to handle a key: pasting arrives as text. @param {KeyboardEvent} event */
export const isOwnKey = ({ key, ctrlKey, metaKey }) => (ctrlKey || metaKey) && key.toLowerCase() === 'v'
