/**
 * Time in ms for which a state stays highlighted while others are queued. It becomes shorter with a longer queue, so
 * that the chart does not fall behind.
 */
const playMs = 250
const minMs = 16
const catchUpMs = 2000

/** Plays the states of commits on a chart, one after the other, without skipping any, however short. */
export class ChartPlay {
  chart
  /** @type {(readonly string[])[]} */
  #waiting = []
  #timer = 0
  #lit

  /** @param {import('./chart.js').Chart} chart @param {() => void} lit called when another state is highlighted */
  constructor(chart, lit) {
    this.chart = chart
    this.#lit = lit
  }

  /** Queues these states. @param {readonly (readonly string[])[]} states */
  play(states) {
    this.#waiting.push(...states)
    if (this.#timer === 0) this.#next()
  }

  /** Shows the current state, after the queued ones. @param {readonly string[]} active */
  settle(active) {
    if (this.#timer !== 0) this.#waiting.push(active)
    else this.#light(active)
  }

  /**
   * Shows the state at a commit with the transition to it, and drops queued states.
   *
   * @param {readonly string[]} active
   * @param {readonly string[] | null} before
   */
  stand(active, before) {
    this.stop()
    this.chart.forget()
    if (before !== null) this.chart.light(before)
    this.#light(active)
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = 0
    this.#waiting = []
  }

  #next() {
    const active = this.#waiting.shift()
    if (active === undefined) {
      this.#timer = 0
      return
    }
    this.#light(active)
    const ms = Math.max(minMs, Math.min(playMs, catchUpMs / (this.#waiting.length + 1)))
    this.#timer = setTimeout(() => this.#next(), ms)
  }

  /** @param {readonly string[]} active */
  #light(active) {
    this.chart.light(active)
    this.#lit()
  }
}
