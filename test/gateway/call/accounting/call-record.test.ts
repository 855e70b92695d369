import { describe, expect, it } from 'vitest'
import type { GatewayCall } from '#gateway/call/accounting/call-ledger.ts'
import { CallRecord } from '#gateway/call/accounting/call-record.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { callerOf, managedRoute } from '#test/gateway/ledger/calls.ts'

const recorded = (failures: number): GatewayCall | undefined => {
  const calls: GatewayCall[] = []
  const head = {
    operation: 'chat_completions.create',
    need: 'chat',
    streamed: false,
    caller: callerOf(),
    model: 'm',
  } as const
  const record = new CallRecord({ ledger: { record: (call) => calls.push(call) }, now: () => 0 }, head)
  for (let n = 0; n < failures; n++)
    record.failed(managedRoute, new ModelError('provider_error', `The provider returned an error (${n}).`))
  const bodies = () => ({ request: '', response: '' })
  record.write(null, { usage: null, costUsd: '0', status: 200, bodies, redactions: { email: 2 } })
  return calls[0]
}

describe('the record of a call', () => {
  it('keeps the first 20 failed attempts, without the API key', () => {
    const kept = recorded(25)?.failedAttempts ?? []
    expect(kept).toHaveLength(20)
    expect(kept[0]).toMatchObject({
      ...{ provider: 'openai', model: 'gpt-4o-mini', source: 'managed', connection_id: null, error: 'provider_error' },
      message: 'The provider returned an error (0).',
    })
    expect(JSON.stringify(kept)).not.toContain(managedRoute.apiKey)
  })

  it('omits failures when there were none, and has the redaction counts', () => {
    const call = recorded(0)
    expect(call).not.toHaveProperty('failedAttempts')
    expect(call?.redactions).toEqual({ email: 2 })
  })
})
