import type { Commit, LogEvent } from '#storage/ports.ts'
import type { LogRules } from '../log-rules.ts'
import { chunksIn } from './attempt-text.ts'

/**
 * The rules for the turns of one session, event by event: turn numbers increase by one, a turn ends once and nothing
 * follows its end, its output is the concatenation of its deltas, and its text is that of its own model calls: each
 * chunk once, in order.
 */
export class TurnRules implements LogRules {
  readonly #session: string
  readonly #chunksOf: (effect: string) => number
  readonly #commitOf: (effect: string) => Commit | undefined
  turn = 0
  /** Whether a turn is in progress or waits. */
  open = false
  #text = ''

  constructor(session: string, chunksOf: (effect: string) => number, commitOf: (effect: string) => Commit | undefined) {
    this.#session = session
    this.#chunksOf = chunksOf
    this.#commitOf = commitOf
  }

  /** @returns what the event violates; null for nothing. */
  take(event: LogEvent): string | null {
    if (event.event_type === 'turn.started') return this.#start(event)
    if (!this.open) return `turn ${event.turn_number} is over`
    if (event.turn_number !== this.turn) return `is of turn ${event.turn_number}, and ${this.turn} goes on`
    const { payload } = event
    switch (event.event_type) {
      case 'output_text.delta':
        this.#text += String(payload.delta)
        return null
      case 'turn.restarted':
        this.#text = ''
        return null
      case 'turn.completed':
        return this.#end(payload.output, true)
      case 'turn.failed':
        return this.#end(Object(payload.output).text, false)
      default:
        return null
    }
  }

  #start(event: LogEvent): string | null {
    if (this.open) return `turn ${this.turn} goes on`
    if (event.turn_number !== this.turn + 1) return `turn ${event.turn_number} follows ${this.turn}`
    this.turn++
    this.open = true
    this.#text = ''
    return null
  }

  #end(output: unknown, completed: boolean): string | null {
    this.open = false
    if (output !== this.#text) return `the output is ${JSON.stringify(output)}, the deltas are ${this.#text}`
    return this.#wrongText(completed)
  }

  #wrongText(completed: boolean): string | null {
    let call = ''
    let next = 0
    let said = 0
    let length = 0
    const calls = new Set<string>()
    const cut = (): boolean => call !== '' && next !== this.#chunksOf(call)
    for (const { whole, call: by, index, attempt } of chunksIn(this.#text)) {
      length += whole.length
      if (by !== call) {
        if (cut()) return `the text of ${call} breaks off: ${this.#text}`
        if (calls.has(by) || !this.#isOwn(by)) return `has text of ${by}: ${this.#text}`
        calls.add(by)
        call = by
        next = 0
        said = attempt
      }
      if (attempt !== said) return `mixes two attempts of ${by}: ${this.#text}`
      if (index !== next++) return `chunk ${index} of ${by} comes out of order: ${this.#text}`
    }
    if (length !== this.#text.length) return `has text that nobody said: ${this.#text}`
    return completed && cut() ? `is completed in the middle of ${call}: ${this.#text}` : null
  }

  #isOwn(effect: string): boolean {
    const params = this.#commitOf(effect)?.effects.find(({ id }) => id === effect)?.params
    return effect.startsWith(`${this.#session}:`) && params?.turn === this.turn
  }
}
