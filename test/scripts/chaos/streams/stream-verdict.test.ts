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

describe('a reader of a run or a response', () => {
  const output = [{ content: [{ text: whole }] }]
  const response = [
    frame(1, 'response.created'),
    text(2, whole),
    frame(3, 'response.completed', { response: { output } }),
  ].map((each) => ({ ...each, event: each.event.replace(/^output/, 'response.output') }))
  const run = [
    frame(1, 'run.model_call.started'),
    frame(2, 'run.model_call.completed', { text: whole }),
    frame(3, 'run.completed', { output: { text: whole } }),
  ]

  it.each([{ frames: response }, { frames: run }])('gets one answer whole: $frames.0.event', ({ frames }) => {
    expect(kinds({ frames, log: frames })).toEqual([])
    const other = frames.map((each, at) => (at === 1 ? { ...each, data: { delta: '1.0 ', text: '1.0 ' } } : each))
    expect(kinds({ frames: other, log: other })).toContain('lost')
    expect(kinds({ frames, log: other })).toContain('broken')
  })

  it('must not fail', () => {
    const failed = [...run.slice(0, 1), frame(2, 'run.failed')]
    expect(kinds({ frames: failed, log: failed })).toContain('lost')
  })
})
