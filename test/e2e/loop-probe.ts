import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { World } from './world.ts'

/** How long a request may hold every other one up, in ms of the processor. */
const mostMs = 50
/** What the work below takes on the machine on which 50 ms were measured. */
const usualMs = 60

/** How much slower than that machine this one is now; 1 for one that is faster. It takes 0.1 s and 40 MB to say. */
const slowness = (): number => {
  const body = Buffer.from(JSON.stringify({ messages: [{ content: 'many things, "and" more é '.repeat(280_000) }] }))
  const began = process.cpuUsage()
  JSON.stringify(JSON.parse(body.toString('utf8')))
  return Math.max(1, process.cpuUsage(began).user / 1000 / usualMs)
}

/**
 * What the shortest of these turns has to stay below, in ms: 50, and on a machine that is slower now as much more. Where 50 are
 * kept it need not be known how slow it is.
 */
export const limitOf = (seen: readonly number[]): number => (Math.min(...seen) < mostMs ? mostMs : mostMs * slowness())

/** Reads from a server how long one turn of its loop kept the processor busy (test/support/loop-holds.ts). */
export class LoopProbe {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holds-'))
  readonly #file = join(this.#folder, 'holds')

  /** What the server is started with. */
  get env(): Readonly<Record<string, string>> {
    const probe = resolve(import.meta.dirname, '../support/loop-holds.ts')
    return { LOOP_HOLDS: this.#file, NODE_OPTIONS: `--import=${probe}` }
  }

  /**
   * The longest turn of the loop under a request and what it leaves behind, in ms of the processor: of up to four attempts
   * each. What a first request loads and compiles is not what it costs, and a full collection of garbage falls into one of them.
   *
   * @param last a request whose answer comes when whatever the first one left behind is done.
   */
  async heldMs(
    { server, api }: World,
    request: () => Promise<unknown>,
    last = '/v1/usage',
  ): Promise<readonly number[]> {
    const seen: number[] = []
    for (let attempt = 0; attempt < 4 && !seen.some((ms) => ms < mostMs); attempt++) {
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
