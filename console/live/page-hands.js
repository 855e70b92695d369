import { callApi } from '../api.js'

/**
 * @typedef {{ type: string, x?: number, y?: number, button?: 'left' | 'middle' | 'right', clicks?: number, deltaX?: number, deltaY?: number, key?: string, text?: string }} Input
 */

/** What a person did is gathered for so long, in ms, and sent in one request. */
const gatherMs = 50
/** In one request, and what waits for one at most. */
const most = { events: 100, waiting: 1_000, text: 10_000 }
/** @type {readonly ('left' | 'middle' | 'right')[]} */
const buttons = ['left', 'middle', 'right']

/** Sends what a person does with the page of a job, in order, one request at a time. */
export class PageHands {
  #project
  #id
  #report
  /** @type {Input[]} */
  #waiting = []
  #sends = false

  /**
   * @param {string} project
   * @param {string} id
   * @param {(error: unknown) => void} report called with trouble, and with null when it is over
   */
  constructor(project, id, report) {
    this.#project = project
    this.#id = id
    this.#report = report
  }

  /** Resolves when all that was done so far is at the server. */
  async settled() {
    while (this.#sends) await pause(gatherMs)
  }

  /** @param {Input} input */
  add(input) {
    if (input.type === 'mouseMove' && this.#waiting.at(-1)?.type === 'mouseMove') this.#waiting.pop()
    if (this.#waiting.length < most.waiting) this.#waiting.push(input)
    if (!this.#sends) void this.#send()
  }

  /** Types a text, or pastes it. @param {string} text */
  type(text) {
    const letters = [...text]
    for (let at = 0; at < letters.length; at += most.text / 2)
      this.add({ type: 'text', text: letters.slice(at, at + most.text / 2).join('') })
  }

  async #send() {
    this.#sends = true
    await pause(gatherMs)
    while (this.#waiting.length > 0) {
      const events = this.#waiting.splice(0, most.events)
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
 * Where on the page a pointer is, in its own pixels.
 *
 * @param {{ clientX: number, clientY: number }} pointer
 * @param {{ left: number, top: number, width: number, height: number }} shown the picture's place
 * @param {{ width: number, height: number }} size of the page's window
 */
export const placeOf = ({ clientX, clientY }, shown, size) => ({
  x: within(((clientX - shown.left) / shown.width) * size.width, size.width),
  y: within(((clientY - shown.top) / shown.height) * size.height, size.height),
})

/** @param {number} at @param {number} most */
const within = (at, most) => Math.min(Math.max(0, Math.round(at)), Math.max(0, most - 1))

/** @param {number} button of a pointer's event */
export const buttonOf = (button) => buttons[button === 0 ? 0 : button === 1 ? 1 : 2] ?? 'left'

/** A key that leaves the page instead of going to it. @param {KeyboardEvent} event */
export const leaves = (event) => event.key === 'Escape' && event.shiftKey

/** Keys that the reader's own browser needs: what is pasted comes as text. @param {KeyboardEvent} event */
export const isOwnKey = ({ key, ctrlKey, metaKey }) => (ctrlKey || metaKey) && key.toLowerCase() === 'v'
