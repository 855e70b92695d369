import type { LoggerOptions } from 'pino'

/** How long lines of a kind are counted together, in ms. */
const windowMs = 60_000

/** Lines of a kind that are written in that time, by level: errors often name what else is in no list. */
const maxLines: Readonly<Record<number, number>> = { 40: 1, 50: 20 }

/** Bounds the kinds that are remembered; lines of further ones are written. */
const maxKinds = 1_000

interface Kind {
  written: number
  suppressed: number
  /** Writes the latest line that was suppressed, with the number of those before it. */
  latest: ((suppressed: number) => void) | null
}

/**
 * Writes few lines of a kind a minute. An outage of the store, Redis, a provider or a receiver fails each item of the
 * loops that need it, whose lines hid all others.
 */
export class RepeatedLines {
  readonly #kinds = new Map<string, Kind>()
  readonly #after: (ms: number, run: () => void) => void

  /** @param after runs something after a time, and keeps no process alive for it. */
  constructor(after: (ms: number, run: () => void) => void = (ms, run) => setTimeout(run, ms).unref()) {
    this.#after = after
  }

  /** @param write writes the line, with the number of suppressed ones before it. */
  add(kind: string, max: number, write: (suppressed: number) => void): void {
    const known = this.#kinds.get(kind)
    if (known !== undefined && known.written >= max) {
      if (known.latest !== null) known.suppressed++
      known.latest = write
      return
    }
    write(0)
    if (known !== undefined) known.written++
    else if (this.#kinds.size < maxKinds) this.#begin(kind)
  }

  #begin(kind: string): void {
    const counted: Kind = { written: 1, suppressed: 0, latest: null }
    this.#kinds.set(kind, counted)
    this.#after(windowMs, () => {
      this.#kinds.delete(kind)
      if (counted.latest === null) return
      counted.latest(counted.suppressed)
      this.#begin(kind)
    })
  }
}

/**
 * Fields that distinguish kinds of one message: an outage of one provider hides none of another, and a start that waits for
 * the store says something new each time, every few seconds.
 */
const kindNames = [
  'code',
  'provider',
  'reason',
  'address',
  'kind',
  'part',
  'operation',
  'effect',
  'name',
  'waitedS',
] as const

/** Hooks of a logger that write few lines of a kind a minute, with `suppressed`, the number of those left out. */
export const withoutRepetitions = (lines = new RepeatedLines()): NonNullable<LoggerOptions['hooks']> => ({
  logMethod(args, method, level) {
    const max = maxLines[level]
    const [first, message] = args
    const fields: Record<string, unknown> = Object(first)
    if (max === undefined || typeof message !== 'string') return method.apply(this, args)
    const kind = [level, message, ...kindNames.map((name) => fields[name]), placeOf(fields.err)].join('\n')
    lines.add(kind, max, (suppressed) => {
      method.apply(this, suppressed === 0 ? args : [{ ...fields, suppressed }, message])
    })
  },
})

/** The class of an error and where it was thrown, so that errors of two causes are of two kinds. */
const placeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return ''
  const at = error.stack?.indexOf('\n    at ') ?? -1
  return `${error.name} ${at < 0 ? '' : error.stack?.slice(at, error.stack.indexOf('\n', at + 1))}`
}
