/** How long a state stays lit while others wait to be, in ms: shorter the more there are, so that a chart does not fall behind. */
const playMs = 250
const leastMs = 16
const catchUpMs = 2000

/** Lights a chart by the states of commits, one after the other: none is left out, however short it was. */
export class ChartPlay {
  chart
  /** @type {(readonly string[])[]} */
  #waiting = []
  #timer = 0
  #lit

  /** @param {import('./chart.js').Chart} chart @param {() => void} lit called when another state is lit */
  constructor(chart, lit) {
    this.chart = chart
    this.#lit = lit
  }

  /** Lights these states in their order. @param {readonly (readonly string[])[]} states */
  play(states) {
    this.#waiting.push(...states)
    if (this.#timer === 0) this.#next()
  }

  /** The state as it is now; what waits is lit before. @param {readonly string[]} active */
  settle(active) {
    if (this.#timer !== 0) this.#waiting.push(active)
    else this.#light(active)
  }

  /** The state at some commit, with the way to it; what waits is forgotten. @param {readonly string[]} active @param {readonly string[] | null} before */
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
    const ms = Math.max(leastMs, Math.min(playMs, catchUpMs / (this.#waiting.length + 1)))
    this.#timer = setTimeout(() => this.#next(), ms)
  }

  /** @param {readonly string[]} active */
  #light(active) {
    this.chart.light(active)
    this.#lit()
  }
}
