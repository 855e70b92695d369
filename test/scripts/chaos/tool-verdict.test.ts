import { describe, expect, it } from 'vitest'
import type { GatedCall, ToolCall } from '#scripts/chaos/evidence.ts'
import { judge } from '#scripts/chaos/verdict.ts'
import { call, evidence, gated } from './samples.ts'

const kinds = (change: Partial<GatedCall>, toolCalls: readonly ToolCall[]) =>
  judge(evidence({ gated: [gated(change)], toolCalls })).map(({ kind }) => kind)

const unknown = { status: 'failed', error: { code: 'outcome_unknown' } }
const pending = { status: 'pending_approval', error: null }

describe('the verdict accepts a tool that ran', () => {
  it.each<[string, Partial<GatedCall>, readonly ToolCall[]]>([
    ['once', {}, [call('k')]],
    ['twice with the same key, if it is idempotent', { runs: 'idempotent' }, [call('k'), call('k')]],
    ['once, if its outcome is unknown', { action: unknown }, [call('k')]],
    ['never, if its outcome is unknown', { action: unknown }, []],
    ['never, if it was rejected', { decision: 'reject', action: { status: 'rejected', error: null } }, []],
    ['never, if the caller runs it', { runs: 'caller' }, []],
    ['never, if its approval was not acknowledged', { acknowledged: false, action: pending }, []],
  ])('%s', (_, change, calls) => {
    expect(kinds(change, calls)).toEqual([])
  })
})

describe('a planted violation', () => {
  it.each<[string, string, Partial<GatedCall>, readonly ToolCall[]]>([
    ['a tool that ran twice', 'doubled', {}, [call('k'), call('k')]],
    ['an idempotent tool that ran with two keys', 'doubled', { runs: 'idempotent' }, [call('k'), call('l')]],
    ['a second call after an unknown outcome', 'doubled', { action: unknown }, [call('k'), call('k')]],
    [
      'a tool that ran although it was rejected',
      'doubled',
      { decision: 'reject', action: { status: 'rejected', error: null } },
      [call('k')],
    ],
    ['an executed tool that never ran', 'lost', {}, []],
    ['an acknowledged approval that was lost', 'lost', { action: pending }, []],
    ['an acknowledged rejection that was lost', 'lost', { decision: 'reject', action: pending }, []],
    ['an action that is missing', 'lost', { action: null }, [call('k')]],
    ['an idempotent tool with an unknown outcome', 'broken', { runs: 'idempotent', action: unknown }, [call('k')]],
    ['a tool that is still running', 'broken', { action: { status: 'executing', error: null } }, [call('k')]],
  ])('%s is found', (_, kind, change, calls) => {
    expect(kinds(change, calls)).toContain(kind)
  })

  it('of a tool that ran for an unknown action is found', () => {
    expect(judge(evidence({ toolCalls: [call('k', 'act_9')] }))).toMatchObject([{ kind: 'broken' }])
  })
})

describe('a decision on a standalone action', () => {
  const plain = (decision: 'approve' | 'reject' | null, status: string, acknowledged = decision !== null) =>
    judge(evidence({ plain: [{ id: 'act_1', decision, acknowledged, action: { status, error: null } }] }))

  it('is accepted if it is kept', () => {
    expect(plain('approve', 'approved')).toEqual([])
    expect(plain('reject', 'rejected')).toEqual([])
    expect(plain(null, 'pending_approval')).toEqual([])
    expect(plain('approve', 'pending_approval', false)).toEqual([])
  })

  it('is reported if it is lost or inverted', () => {
    expect(plain('approve', 'pending_approval')).toMatchObject([{ kind: 'lost' }])
    expect(plain('reject', 'approved')).toMatchObject([{ kind: 'lost' }])
    expect(plain(null, 'approved')).toMatchObject([{ kind: 'lost' }])
  })
})
