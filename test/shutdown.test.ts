import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { shutdown } from '#src/shutdown.ts'

/** The code that a process ends with first, when closing is `stop`, and what it logs. */
const ending = async (stop: () => Promise<void>, limitMs = 60_000) => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(line) })
  const code = await new Promise<number>((exit) => void shutdown({ stop, limitMs, log, exit }))
  return { code, log: lines.join('') }
}

describe('shutdown', () => {
  it('ends the process with 0 when all is closed', async () => {
    expect(await ending(() => Promise.resolve())).toEqual({ code: 0, log: '' })
  })

  it('ends it with 1, and says why, when something cannot be closed', async () => {
    const { code, log } = await ending(() => Promise.reject(new Error('planted')))
    expect(code).toBe(1)
    expect(log).toContain('planted')
  })

  it('ends it with 1, and says so, when closing does not end', async () => {
    const { code, log } = await ending(() => new Promise(() => {}), 10)
    expect(code).toBe(1)
    expect(log).toContain('closing did not finish')
  })
})
