import { describe, expect, it } from 'vitest'
import { judgeStream, type StreamEvidence } from '#scripts/chaos/streams/stream-verdict.ts'
import type { Frame } from '#scripts/quickstart/sse-lines.ts'

const frame = (id: number, event: string, data: Frame['data'] = {}): Frame => ({ id: String(id), event, data })
const text = (id: number, delta: string): Frame => frame(id, 'output_text.delta', { delta })
const started = frame(1, 'turn.started')
const restarted = frame(1030, 'turn.restarted')
const whole = '2.0 2.1 2.2 '
const ended = frame(1033, 'turn.completed', { output: whole })
const log = [started, text(2, '1.0 '), restarted, text(1031, '2.0 2.1 '), text(1032, '2.2 '), ended]
/** What a reader saw that follows restarts; event 3 was never durable. */
const good = [started, text(2, '1.0 '), text(3, '1.1 '), ...log.slice(2)]

const kinds = (change: Partial<StreamEvidence>): readonly string[] =>
  judgeStream({ who: 'sse', restarts: true, tokens: 3, frames: good, log, ...change }).map(({ kind, what }) =>
    what.includes('mixed') ? 'mixed' : kind,
  )

describe('a reader that follows restarts', () => {
  it('may see the beginning of a lost attempt, and then the whole of the next', () => {
    expect(kinds({})).toEqual([])
  })

  it('must receive an end', () => {
    expect(kinds({ frames: good.slice(0, -1) })).toContain('lost')
  })

  it('may not see an event twice', () => {
    expect(kinds({ frames: [...good.slice(0, 3), text(3, '1.1 '), ...good.slice(3)] })).toContain('doubled')
  })

  it('may not miss an event of the log', () => {
    expect(kinds({ frames: good.filter(({ id }) => id !== '1031') })).toContain('lost')
  })

  it('may not see another event under an id of the log', () => {
    expect(kinds({ frames: good.map((each) => (each.id === '2' ? text(2, '1.0 1.1 ') : each)) })).toContain('broken')
  })
})

describe('a reader of one attempt', () => {
  const one = good.filter((each) => each !== restarted && Number(each.id) < 1000).concat(ended)

  it('may see the beginning of a lost attempt, and then the end', () => {
    expect(kinds({ restarts: false, frames: one })).toEqual([])
  })

  it('may not see the text of two attempts', () => {
    const frames = [...one.slice(0, -1), text(1031, '2.0 2.1 '), ended]
    expect(kinds({ restarts: false, frames })).toEqual(['mixed'])
  })

  it('may not see a token twice', () => {
    const frames = [started, text(2, '1.0 '), text(3, '1.0 '), ended]
    expect(kinds({ restarts: false, frames })).toEqual(['doubled'])
  })

  it('must receive the whole text with the end', () => {
    const short = frame(1033, 'turn.completed', { output: '2.0 2.1 ' })
    expect(kinds({ restarts: false, frames: [...one.slice(0, -1), short], log: [...log.slice(0, -1), short] })).toEqual(
      ['lost'],
    )
  })
})
