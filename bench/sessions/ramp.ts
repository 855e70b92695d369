import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '#scripts/services/command.ts'
import { startServer } from '#scripts/services/server.ts'
import type { Service } from '#scripts/services/service.ts'
import { sized } from '../extent.ts'
import { cores, pin } from '../gateway/tools.ts'
import { median, type Row } from '../row.ts'
import { modelEnv } from '../turns.ts'
import type { Ramp, RampOrder } from './ramp-client.ts'

const run = promisify(execFile)
const rounds = sized(3, 1)
const most = sized(1_000, 4)
const warmUp = sized(64, 2)

/**
 * Measures how many answers of 80 tokens a second a server on one core streams until 1 % of the deltas are older than 100 ms:
 * sessions' turns beside the gateway's own streams, with the model and the readers on the other core.
 */
export async function benchRamp(model: Service, key: string): Promise<readonly Row[]> {
  if (onPath('taskset') === null) {
    console.error('no taskset here: the number of streams on one core is left out')
    return []
  }
  const server = await startServer({ BOOTSTRAP_SECRET_KEY: key, ...modelEnv(model) })
  try {
    await pin(server)
    await pin(model, cores.load)
    const counts: Readonly<Record<'turn' | 'chat', number[]>> = { turn: [], chat: [] }
    for (let round = -1; round < rounds; round++) {
      for (const api of round % 2 === 0 ? (['chat', 'turn'] as const) : (['turn', 'chat'] as const)) {
        const streams = await streamsOf({ url: server.url, key, api, max: round < 0 ? warmUp : most })
        if (round >= 0) counts[api].push(streams)
      }
    }
    const carried = await streamsOf({ url: model.url, key, api: 'chat', max: most })
    return rowsOf(median(counts.turn), median(counts.chat), carried)
  } finally {
    await server.stop()
  }
}

const rowsOf = (turns: number, chats: number, carried: number): readonly Row[] => [
  {
    ...{ measure: 'streams on one core until a delta is 100 ms late (p99), SQLite', unit: '', ours: turns },
    ...{ against: { name: 'gateway', value: chats }, bound: { of: 'ratio', atLeast: 0.7 } },
  },
  { measure: 'streams that the model and the readers carry by themselves', unit: '', ours: carried },
]

async function streamsOf(order: RampOrder): Promise<number> {
  const client = [process.execPath, join(import.meta.dirname, 'ramp-client.ts'), JSON.stringify(order)]
  const { stdout } = await run('taskset', ['-c', cores.load, ...client])
  const { streams }: Ramp = JSON.parse(stdout)
  return streams
}
