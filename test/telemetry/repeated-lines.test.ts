import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { RepeatedLines, withoutRepetitions } from '#src/telemetry/repeated-lines.ts'

const logging = () => {
  const written: Record<string, unknown>[] = []
  const due: (() => void)[] = []
  const hooks = withoutRepetitions(new RepeatedLines((_ms, run) => due.push(run)))
  const log = pino({ base: null, hooks }, { write: (line: string) => written.push(JSON.parse(line)) })
  const minute = () => {
    for (const run of due.splice(0)) run()
  }
  return { log, minute, taken: () => written.splice(0) }
}

describe('lines of the log that repeat', () => {
  it('are one a minute of a kind, the later ones with the number of those left out', () => {
    const { log, minute, taken } = logging()
    for (let item = 0; item < 500; item++) log.warn({ item, err: new Error('away') }, 'rows not written, trying again')
    expect(taken()).toMatchObject([{ item: 0, msg: 'rows not written, trying again' }])
    minute()
    expect(taken()).toMatchObject([{ item: 499, suppressed: 498, msg: 'rows not written, trying again' }])
    log.child({ node: 'a' }).warn({ item: 500 }, 'rows not written, trying again')
    log.warn({ item: 501, err: new Error('away') }, 'another')
    expect(taken()).toMatchObject([{ item: 500 }, { item: 501 }])
    minute()
    minute()
    expect(taken()).toEqual([])
    log.warn({ item: 502 }, 'rows not written, trying again')
    expect(taken()).toMatchObject([{ item: 502 }])
  })

  it('hide no line of another kind: another message, code, provider, address, name or place of an error', () => {
    const { log, taken } = logging()
    for (const provider of ['openai', 'google', 'openai']) log.warn({ provider, code: 'x' }, 'call to a model failed')
    log.warn({ provider: 'openai', code: 'y' }, 'call to a model failed')
    for (const err of [new TypeError('here'), new TypeError('there')]) log.error({ err }, 'request failed unexpectedly')
    for (const name of ['REDIS_URI', 'PUBLIC_URI']) log.warn({ name }, 'unknown environment variable')
    expect(taken()).toHaveLength(7)
  })

  it('are twenty a minute of an error, and all of what is no failure', () => {
    const { log, minute, taken } = logging()
    for (let item = 0; item < 50; item++) log.error({ item }, 'actor parked')
    for (let item = 0; item < 50; item++) log.info({ item }, 'run claimed')
    expect(taken()).toHaveLength(70)
    minute()
    expect(taken()).toMatchObject([{ item: 49, suppressed: 29 }])
  })

  it('are all written when there are more kinds than are remembered', () => {
    const { log, taken } = logging()
    for (let item = 0; item < 3_000; item++) log.warn({ code: `c${item % 1_500}` }, 'x')
    expect(taken().length).toBe(1_000 + 2 * 500)
  })
})
