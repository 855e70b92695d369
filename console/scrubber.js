import { eventText } from './chart-model.js'
import { h } from './dom.js'
import { duration, preciseTime, toneOf } from './format.js'
import { dom, html, render } from './html.js'

/** Number of frames beside the selected one that are on the page, on each side. */
const aroundFrames = 24

/** Moves through an actor's commits: a film strip with a frame for each, a slider over all of them, and a button back to the newest one. */
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
  #strip = h('ol', { class: 'film', 'aria-label': 'Commits' })
  /** @type {HTMLElement} */
  element = dom`<div class="scrubber"><div class="scrub-line">${this.#where}${this.#now}</div>${this.#strip}${this.#range}</div>`
  /** @type {readonly Step[]} */
  #steps = []
  /** The frames: a commit, and its index; the parts of a stream share the frame of the last of them. @type {readonly { step: Step, index: number }[]} */
  #frames = []
  /** @type {number | null} */
  #at = null
  #moved
  #nameOf

  /**
   * @param {(index: number | null) => void} moved called when the user has moved to this commit; null: to the newest
   * @param {(step: Step) => string} nameOf the event of a commit with its guard
   */
  constructor(moved, nameOf) {
    this.#moved = moved
    this.#nameOf = nameOf
  }

  get travels() {
    return this.#at !== null
  }

  get index() {
    return this.#at ?? this.#steps.length - 1
  }

  /** @param {readonly Step[]} steps */
  grow(steps) {
    this.#steps = steps
    this.#frames = framesOf(steps)
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
    const what = `${this.#nameOf(step)}, ${preciseTime(step.at)}`
    this.#where.textContent = this.#at === null ? `${place}, live: ${what}` : `${place}: ${what}`
    this.#range.setAttribute('aria-valuetext', `${place}, ${step.event}`)
    this.#draw()
  }

  /** Shows the frames around the selected one. */
  #draw() {
    const chosen = this.#frames.findIndex(({ index }) => index >= this.index)
    const from = Math.max(0, (chosen < 0 ? this.#frames.length - 1 : chosen) - aroundFrames)
    const focused = this.#strip.contains(document.activeElement)
    const frames = this.#frames.slice(from, from + 2 * aroundFrames + 1)
    render(
      frames.map((frame, at) => this.#frame(frame, this.#frames[from + at - 1]?.step, from + at === chosen)),
      this.#strip,
    )
    this.center(focused)
  }

  /** Scrolls the selected frame into the middle of the strip. @param {boolean} [focused] whether it gets the focus */
  center(focused = false) {
    const current = this.#strip.querySelector('[aria-current]')
    if (!(current instanceof HTMLElement)) return
    if (focused) current.focus({ preventScroll: true })
    this.#strip.scrollLeft =
      current.offsetLeft - this.#strip.offsetLeft - (this.#strip.clientWidth - current.offsetWidth) / 2
  }

  /** @param {{ step: Step, index: number }} frame @param {Step | undefined} before @param {boolean} chosen */
  #frame({ step, index }, before, chosen) {
    const state = step.to?.split('.').at(-1) ?? ''
    const since = before === undefined ? '' : `+${duration(Date.parse(step.at) - Date.parse(before.at))}`
    const title = `${this.#nameOf(step)}, ${preciseTime(step.at)}`
    const go = () => this.go(index === this.#steps.length - 1 ? null : index)
    return html`<li key=${step.seq}><button type="button" class="frame" tabindex=${chosen ? 0 : -1} aria-current=${chosen ? 'step' : undefined} data-tone=${step.to === null ? '' : toneOf(step.to)} title=${title} onClick=${go}>
      <span class="frame-head">${step.seq}<span>${since}</span></span><span class="frame-event">${eventText(step.event)}</span><span class="frame-state">${state}</span>
    </button></li>`
  }
}

/** @param {readonly Step[]} steps */
const framesOf = (steps) =>
  steps
    .map((step, index) => ({ step, index }))
    .filter(
      ({ step, index }) => step.caused_by !== 'part' || step.to !== null || steps[index + 1]?.caused_by !== 'part',
    )
