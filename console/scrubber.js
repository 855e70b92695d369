import { h } from './dom.js'
import { preciseTime } from './format.js'

/** Moves through an actor's commits: a slider, a button back to the newest commit, and the current position as text. */
export class Scrubber {
  #range = h('input', {
    type: 'range',
    min: 0,
    max: 0,
    value: 0,
    'aria-label': 'Commit',
    input: () => this.go(Number(this.#range.value)),
  })
  #where = h('span', { class: 'scrub-where', role: 'status' })
  #now = h('button', { type: 'button', class: 'quiet', hidden: true, click: () => this.go(null) }, 'Back to now')
  element = h('div', { class: 'scrubber' }, this.#range, h('div', { class: 'scrub-line' }, this.#where, this.#now))
  /** @type {readonly import('./steps-model.js').Step[]} */
  #steps = []
  /** @type {number | null} */
  #at = null
  #moved

  /**
   * @param {(index: number | null) => void} moved called when the user has moved to this commit; null: to the newest
   */
  constructor(moved) {
    this.#moved = moved
  }

  get travels() {
    return this.#at !== null
  }

  get index() {
    return this.#at ?? this.#steps.length - 1
  }

  /** @param {readonly import('./steps-model.js').Step[]} steps */
  grow(steps) {
    this.#steps = steps
    this.#range.max = String(Math.max(0, steps.length - 1))
    if (this.#at === null) this.#range.value = this.#range.max
    this.#say()
  }

  /** @param {number} by */
  move(by) {
    const to = this.index + by
    if (to < 0) return
    this.go(to >= this.#steps.length ? null : to)
  }

  /** @param {number | null} index null: the newest, following new commits */
  go(index) {
    this.#at = index
    this.#range.value = String(this.index)
    this.#now.hidden = index === null
    this.#say()
    this.#moved(index)
  }

  #say() {
    const step = this.#steps[this.index]
    if (step === undefined) return
    const place = `Commit ${step.seq} of ${this.#steps.at(-1)?.seq}`
    this.#where.textContent =
      this.#at === null
        ? `${place}, live. Use ← and → to step through them.`
        : `${place}: ${step.event}, ${preciseTime(step.at)}`
    this.#range.setAttribute('aria-valuetext', `${place}, ${step.event}`)
  }
}
