import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startServer } from '#scripts/services/server.ts'
import { sized } from '../extent.ts'
import { median } from '../row.ts'

const sent = sized(5, 1)
const bodyBytes = 7 * 1024 * 1024

/**
 * Returns how long a request body of 7 MB blocks the event loop, as the longest loop turn in ms of the main thread's
 * CPU time. Measured on a separate server, which reports its longest loop turn.
 *
 * @param env environment of the other targets, with the provider and the key.
 */
export async function longestHoldMs(env: Readonly<Record<string, string>>, key: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-holds-'))
  const holds = join(folder, 'holds')
  const probe = resolve(import.meta.dirname, '../../test/support/loop-holds.ts')
  const server = await startServer({ ...env, LOOP_HOLDS: holds, NODE_OPTIONS: `--import=${probe}` })
  const content = 'many things, and more é '.repeat(bodyBytes / 25)
  const body = JSON.stringify({ model: 'mock', messages: [{ role: 'user', content }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  try {
    const seen: number[] = []
    for (let round = 0; round <= sent; round++) {
      process.kill(server.pid, 'SIGUSR2')
      const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body })
      await answer.text()
      if (!answer.ok) throw new Error(`a body of 7 MB was refused: ${answer.status}`)
      // the first request also loads and compiles code, which is not a cost of the body
      if (round > 0) seen.push(Number(readFileSync(holds, 'utf8')))
    }
    return median(seen)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}
