import { expect, it } from 'vitest'
import { judgeUsage } from '#scripts/chaos/usage-verdict.ts'
import { logOf, session, turnOf } from './samples.ts'

const two = session()
const judged = (rows: number, invoiced = rows, sessions = [two], interrupted = 0) =>
  judgeUsage({ sessions, usage: { rows: { [two.id]: rows }, interrupted, invoiced } })

it('the usage verdict finds no problem if each answer has one row and the invoice has all', () => {
  expect(judged(2)).toEqual([])
})

it('the usage verdict finds a lost row, a duplicate row and an invoice that differs', () => {
  expect(judged(1)).toMatchObject([{ kind: 'lost' }])
  expect(judged(3)).toMatchObject([{ kind: 'doubled' }])
  expect(judged(2, 1)).toMatchObject([{ kind: 'broken' }])
})

it('the usage verdict expects the invoice to have the calls that a crash cut', () => {
  expect(judged(2, 3, [two], 1)).toEqual([])
  expect(judged(2, 2, [two], 1)).toMatchObject([{ kind: 'broken' }])
})

it('the usage verdict expects two answers of a turn with a tool result, and one if the call was rejected', () => {
  const [started, ...rest] = turnOf('q1z', 1)
  if (started === undefined) throw new Error('no turn')
  const called = [started, ['tool_call.started', { tool: 't' }] as const]
  const answered = session({ log: logOf([...called, ['tool_call.completed', { tool: 't' }], ...rest]) })
  const rejected = session({ log: logOf([...called, ...rest]) })
  expect(judged(2, 2, [answered])).toEqual([])
  expect(judged(1, 1, [answered])).toMatchObject([{ kind: 'lost' }])
  expect(judged(1, 1, [rejected])).toEqual([])
})

it('the usage verdict accepts none or one answer of an interrupted turn', () => {
  const cut = session({
    log: logOf([
      ['turn.started', {}],
      ['turn.failed', {}],
    ]),
  })
  expect(judged(0, 0, [cut])).toEqual([])
  expect(judged(1, 1, [cut])).toEqual([])
  expect(judged(2, 2, [cut])).toMatchObject([{ kind: 'doubled' }])
})
