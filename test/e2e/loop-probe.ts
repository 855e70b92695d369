import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { World } from './world.ts'

/** How long a request may block all others, in ms of processor time. */
const maxMs = 50
/** Duration of the work below, in ms, on the machine where the 50 ms were measured. */
const usualMs = 60

/** How much slower than that machine this one is now, at least 1. Measuring takes 0.1 s and 40 MB. */
const slowness = (): number => {
  const body = Buffer.from(JSON.stringify({ messages: [{ content: 'many things, "and" more é '.repeat(280_000) }] }))
  const began = process.cpuUsage()
  JSON.stringify(JSON.parse(body.toString('utf8')))
  return Math.max(1, process.cpuUsage(began).user / 1000 / usualMs)
}

/**
 * Upper bound for the shortest of these turns, in ms: 50, scaled up on a machine that is slower now. The slowness is measured
 * only if none stayed below 50.
 */
export const limitOf = (seen: readonly number[]): number => (Math.min(...seen) < maxMs ? maxMs : maxMs * slowness())

/** Reads from a server how long one turn of its event loop kept the processor busy (test/support/loop-holds.ts). */
export class LoopProbe {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holds-'))
  readonly #file = join(this.#folder, 'holds')

  /** Environment that the server has to be started with. */
  get env(): Readonly<Record<string, string>> {
    const probe = resolve(import.meta.dirname, '../support/loop-holds.ts')
    return { LOOP_HOLDS: this.#file, NODE_OPTIONS: `--import=${probe}` }
  }

  /**
   * The longest turn of the loop during a request and the work that follows it, in ms of processor time, for each of up to four
   * attempts. Several, because a first request loads and compiles code, and a full garbage collection may fall into one.
   *
   * @param last a request that is answered once the work left by the first one is done.
   */
  async heldMs(
    { server, api }: World,
    request: () => Promise<unknown>,
    last = '/v1/usage',
  ): Promise<readonly number[]> {
    const seen: number[] = []
    for (let attempt = 0; attempt < 4 && !seen.some((ms) => ms < maxMs); attempt++) {
      process.kill(server.pid, 'SIGUSR2')
      await request()
      await api.get(last)
      seen.push(Number(readFileSync(this.#file, 'utf8')))
    }
    return seen
  }

  close(): void {
    rmSync(this.#folder, { recursive: true })
  }
}
