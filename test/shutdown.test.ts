import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { shutdown } from '#src/shutdown.ts'

/** Exit code and log of a process whose closing is `stop`. */
const ending = async (stop: () => Promise<void>, limitMs = 60_000) => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  const code = await new Promise<number>((exit) => void shutdown({ stop, limitMs, log, exit }))
  return { code, log: lines.join('') }
}

describe('shutdown', () => {
  it('exits with 0 when everything is closed', async () => {
    expect(await ending(() => Promise.resolve())).toEqual({ code: 0, log: '' })
  })

  it('exits with 1 and logs the error when something cannot be closed', async () => {
    const { code, log } = await ending(() => Promise.reject(new Error('planted')))
    expect(code).toBe(1)
    expect(log).toContain('planted')
  })

  it('exits with 1 and logs that closing did not finish in time', async () => {
    const { code, log } = await ending(() => new Promise(() => {}), 10)
    expect(code).toBe(1)
    expect(log).toContain('closing did not finish')
  })
})
