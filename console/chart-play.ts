import type { ChartStage } from './chart-stage.ts'

/** Time in ms for which a state stays highlighted while others are queued. It becomes shorter with a longer queue, so that the chart does not fall behind. */
const playMs = 250
const minMs = 16
const catchUpMs = 2000

/** states after a commit, and the event that led there */
type Move = Readonly<{ active: readonly string[]; event: string }>

/** Plays the states of commits on a chart, one after the other, without skipping any, however short. */
export class ChartPlay {
  #waiting: Move[] = []
  #timer = 0
  #stage

  constructor(stage: ChartStage) {
    this.#stage = stage
  }

  /** Queues these states. */
  play(moves: readonly Move[]) {
    this.#waiting.push(...moves)
    if (this.#timer === 0) this.#next()
  }

  /** Shows the current state, after the queued ones. */
  settle(active: readonly string[]) {
    if (this.#timer !== 0) this.#waiting.push({ active, event: '' })
    else this.#stage.chart.light(active)
  }

  /** Shows the state at a commit with the transition to it, and drops queued states. */
  stand({ active, event }: Move, before: readonly string[] | null) {
    this.stop()
    const { chart } = this.#stage
    chart.forget()
    if (before !== null) chart.light(before)
    chart.light(active, event)
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = 0
    this.#waiting = []
  }

  #next() {
    const move = this.#waiting.shift()
    if (move === undefined) {
      this.#timer = 0
      return
    }
    this.#stage.chart.light(move.active, move.event)
    const ms = Math.max(minMs, Math.min(playMs, catchUpMs / (this.#waiting.length + 1)))
    this.#timer = setTimeout(() => this.#next(), ms)
  }
}
