import { expect, it } from 'vitest'
import { judgeUsage } from '#scripts/chaos/usage-verdict.ts'
import { logOf, session, turnOf } from './samples.ts'

const two = session()
const judged = (rows: number, invoiced = rows, sessions = [two]) =>
  judgeUsage({ sessions, usage: { rows: { [two.id]: rows }, invoiced } })

it('finds nothing where each answer has its row and the invoice has all of them', () => {
  expect(judged(2)).toEqual([])
})

it('finds a row that is lost, one that is there twice, and an invoice of other calls', () => {
  expect(judged(1)).toMatchObject([{ kind: 'lost' }])
  expect(judged(3)).toMatchObject([{ kind: 'doubled' }])
  expect(judged(2, 1)).toMatchObject([{ kind: 'broken' }])
})

it('expects two answers of a turn whose tool has answered, and one of a turn whose call was rejected', () => {
  const [started, ...rest] = turnOf('q1z', 1)
  if (started === undefined) throw new Error('no turn')
  const called = [started, ['tool_call.started', { tool: 't' }] as const]
  const answered = session({ log: logOf([...called, ['tool_call.completed', { tool: 't' }], ...rest]) })
  const rejected = session({ log: logOf([...called, ...rest]) })
  expect(judged(2, 2, [answered])).toEqual([])
  expect(judged(1, 1, [answered])).toMatchObject([{ kind: 'lost' }])
  expect(judged(1, 1, [rejected])).toEqual([])
})

it('lets a turn that was cut have been answered, or not', () => {
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
