import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Progress, parsedProgress } from './schema.ts'

const none: Progress = {
  ...{
    pages: 0,
    isStored: false,
    loaded: [],
    isLoaded: false,
    before: null,
    isIndexed: false,
    after: null,
    version: 1,
  },
  figures: {},
}

/** A run in a folder, which goes on with what earlier ones did there. */
export class Run {
  readonly folder: string
  readonly count: number
  readonly #until: number
  #progress: Progress

  /** @param minutes for which it works; null for any. */
  constructor(folder: string, count: number, minutes: number | null) {
    this.folder = folder
    this.count = count
    this.#until = minutes === null ? Number.POSITIVE_INFINITY : performance.now() + minutes * 60_000
    mkdirSync(folder, { recursive: true })
    this.#progress = existsSync(this.#path) ? { ...none, ...parsedProgress(readFileSync(this.#path, 'utf8')) } : none
  }

  get progress(): Progress {
    return this.#progress
  }

  get isLate(): boolean {
    return performance.now() > this.#until
  }

  get #path(): string {
    return join(this.folder, 'progress.json')
  }

  done(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change }
    writeFileSync(`${this.#path}.draft`, JSON.stringify(this.#progress))
    renameSync(`${this.#path}.draft`, this.#path)
  }

  /** Adds the time and CPU of work to those of earlier runs, and notes the peak of this process's memory. */
  async timed<T>(name: string, work: () => Promise<T>): Promise<T> {
    const [from, before] = [performance.now(), process.cpuUsage()]
    try {
      return await work()
    } finally {
      const { user, system } = process.cpuUsage(before)
      const { figures } = this.#progress
      const added = (of: string, value: number) => ({ [`${name}, ${of}`]: (figures[`${name}, ${of}`] ?? 0) + value })
      const peak = Math.max(figures[`${name}, MB`] ?? 0, process.resourceUsage().maxRSS / 1_000)
      const times = { ...added('s', (performance.now() - from) / 1_000), ...added('CPU s', (user + system) / 1e6) }
      this.done({ figures: { ...figures, ...times, [`${name}, MB`]: peak } })
    }
  }

  /** Prints how far the work is, with the rate of this run. */
  meter(what: string, first: number, all: number): (done: number) => void {
    const from = performance.now()
    return (done) => {
      const each = ((done - first) / (performance.now() - from)) * 1_000
      const mb = process.memoryUsage.rss() / 1e6
      console.error(`${what}: ${done} of ${all}, ${each.toFixed(0)} a second, ${mb.toFixed(0)} MB`)
    }
  }
}
