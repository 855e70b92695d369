import { describe, expect, it } from 'vitest'
import type { SessionEvidence } from '#scripts/chaos/evidence.ts'
import { judge, type Problem } from '#scripts/chaos/verdict.ts'
import { approvalRequest, evidence, framesOf, logOf, session, turnOf } from './samples.ts'

const kindsOf = (problems: readonly Problem[]) => [...new Set(problems.map(({ kind }) => kind))]

const verdict = (change: Partial<SessionEvidence>) => judge(evidence({ sessions: [session(change)] }))

const [first, second] = [turnOf('q1z', 1), turnOf('q2z', 2)]
const good = logOf(first, second)

describe('a session without violations', () => {
  it('has no problem', () => {
    expect(verdict({})).toEqual([])
  })

  it('may have unacknowledged turns, in the log or not', () => {
    expect(
      verdict({
        turns: [
          approvalRequest('q1z', { acknowledged: false }),
          approvalRequest('q2z'),
          approvalRequest('q3z', { acknowledged: false }),
        ],
      }),
    ).toEqual([])
  })

  it('may have a turn interrupted in its text', () => {
    const failed = [
      ...turnOf('q1z', 1).slice(0, 2),
      ['turn.failed', { turn_number: 1, output: { text: 'You said: ' }, error: { code: 'interrupted' } }] as const,
    ]
    expect(verdict({ log: logOf(failed, second) })).toEqual([])
  })

  it('may have an answer with an unknown outcome of a tool', () => {
    const output = 'The tool issue_refund answered: {"error":{"code":"outcome_unknown"}}'
    const events = [
      first[0] ?? (['', {}] as const),
      ['output_text.delta', { delta: output }] as const,
      ['turn.completed', { turn_number: 1, output }] as const,
    ]
    expect(verdict({ log: logOf(events, second) })).toEqual([])
  })
})

describe('an answer', () => {
  const answering = (output: string) =>
    logOf([
      ...turnOf('q1z', 1).slice(0, 1),
      ['output_text.delta', { delta: output }],
      ['turn.completed', { turn_number: 1, output }],
    ])
  const view = { status: 'active', turn_count: 1 }
  const given = (output: string, wanted: 'token' | null) =>
    verdict({
      log: answering(output),
      turns: [approvalRequest('q1z', { output: wanted })],
      session: view,
      listed: view,
    })

  it('of a tool has to contain the token of its turn', () => {
    expect(given('The tool answered: {"refunded":"q1z"}', 'token')).toEqual([])
    expect(kindsOf(given('The tool answered: {"refunded":"q2z"}', 'token'))).toEqual(['broken'])
  })

  it('of a rejected turn may have any text', () => {
    expect(given('', null)).toEqual([])
  })
})

describe('a planted loss', () => {
  it.each<[string, Partial<SessionEvidence>]>([
    ['of a whole log', { log: null }],
    ['of a turn', { turns: [approvalRequest('q1z'), approvalRequest('q2z'), approvalRequest('q3z')] }],
    ['of an event that its client saw', { log: good.slice(0, -1), frames: framesOf(good), watched: [] }],
    ['of an event that a watcher saw', { log: logOf(first), turns: [approvalRequest('q1z')], watched: framesOf(good) }],
    ['of a session in the list', { listed: null }],
    ['of a session that is read by its id', { session: null }],
  ])('%s is found', (_, change) => {
    expect(kindsOf(verdict(change))).toContain('lost')
  })
})

describe('a planted duplicate', () => {
  it.each<[string, Partial<SessionEvidence>]>([
    ['of a turn', { log: logOf(first, second, turnOf('q2z', 3)) }],
    ['of the end of a turn', { log: logOf([...first, ...first.slice(-1)], second) }],
    ['of a frame', { frames: [...framesOf(good.slice(0, 3)), ...framesOf(good.slice(2))] }],
    ['of a frame at a watcher', { watched: [...framesOf(good), ...framesOf(good.slice(-1))] }],
  ])('%s is found', (_, change) => {
    expect(kindsOf(verdict(change))).toContain('doubled')
  })
})

describe('a planted violation', () => {
  const changed = (at: number, change: object) => good.map((row, index) => (index === at ? { ...row, ...change } : row))

  it.each<[string, Partial<SessionEvidence>]>([
    ['a gap in the log', { log: good.map((row) => ({ ...row, sequence: row.sequence + (row.sequence > 3 ? 1 : 0) })) }],
    ['two events in the wrong order', { log: [...good.slice(1, 2), ...good.slice(0, 1), ...good.slice(2)] }],
    ['a turn that never ended', { log: logOf(first, second.slice(0, -1)) }],
    ['deltas that are not the output', { log: changed(2, { payload: { delta: 'What is q1z' } }) }],
    [
      'an answer that was started twice',
      {
        log: logOf(
          [
            ...first.slice(0, 2),
            ...first.slice(1, 3),
            ['turn.completed', { turn_number: 1, output: 'You said: You said: What is q1z?' }],
          ],
          second,
        ),
      },
    ],
    ["another turn's answer", { log: logOf(first, [...second.slice(0, 1), ...turnOf('q1z', 2).slice(1)]) }],
    [
      'a turn that failed with an unexpected error',
      {
        log: logOf(first, [
          ...second.slice(0, 1),
          ['turn.failed', { turn_number: 2, output: { text: '' }, error: { code: 'internal_error' } }],
        ]),
      },
    ],
    ['a turn without a request', { turns: [approvalRequest('q1z')] }],
    ['a gap in the frames of its client', { frames: framesOf(good).filter(({ id }) => id !== '3') }],
    ['a frame with another text', { frames: framesOf(changed(2, { payload: { delta: 'other' } })), log: good }],
    ['a frame with another name', { frames: framesOf(changed(3, { event_type: 'turn.failed' })), log: good }],
    ['a watcher who did not see the end', { watched: framesOf(good).slice(0, -1) }],
    ['a wrong turn count', { session: { status: 'active', turn_count: 1 } }],
    ['an outdated row in the list', { listed: { status: 'active', turn_count: 1 } }],
    ['a session that is still paused', { listed: { status: 'paused', turn_count: 2 } }],
  ])('%s is found', (_, change) => {
    expect(kindsOf(verdict(change))).toContain('broken')
  })

  it('is reported with its session and a description', () => {
    expect(verdict({ listed: null })).toEqual([{ kind: 'lost', what: 'ses_1: the list has it not' }])
  })
})
