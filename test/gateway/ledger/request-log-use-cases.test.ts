import { describe, expect, it } from 'vitest'
import type { Call } from '#actors/call/call.ts'
import { requestLogUseCases } from '#gateway/ledger/request-log-use-cases.ts'
import { callOf as callBy, secretOf } from '#test/support/call-of.ts'
import { noted } from '#test/support/called-operations.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { callerOf, callOf, openLedger, project } from './calls.ts'

const call = <Params, Query, Body>(params: Params, query: Query, body: Body): Call<Params, Query, Body> =>
  callBy(params, query, body, secretOf(project))

const world = async () => {
  const clock = new VirtualClock()
  const storage = openMemoryStorage({ now: clock.now })
  const { ledger, settings } = await openLedger(storage, clock)
  const useCases = noted(
    requestLogUseCases({
      records: ledger.records,
      rows: { shown: () => ledger.flush() },
      settings,
      answers: { apply: async () => {} },
      now: clock.now,
    }),
  )
  const list = async (query: Partial<Parameters<(typeof useCases)['request_log.list']>[0]['query']> = {}) =>
    (await useCases['request_log.list'](call({}, { limit: 50, ...query }, undefined))).data
  return { clock, ledger, useCases, list }
}

const populated = async () => {
  const made = await world()
  for (let n = 0; n < 30; n++) {
    const caller = callerOf({ requestId: `request-${n}`, tenant: n % 3 === 0 ? 'ten_a' : null })
    const failed = n % 5 === 0 ? { status: 429, error: 'rate_limit_exceeded', units: null } : {}
    made.ledger.record(callOf({ caller, ...failed, startedAt: made.clock.now(), durationMs: 1 }))
    await made.clock.advance(1_000)
  }
  return made
}

describe('the request log', () => {
  it('is listed newest first, in pages', async () => {
    const { useCases } = await populated()
    const first = await useCases['request_log.list'](call({}, { limit: 20 }, undefined))
    const { next_cursor: cursor } = first
    const second = await useCases['request_log.list'](call({}, { limit: 20, cursor: cursor ?? '' }, undefined))
    const ids = [...first.data, ...second.data].map(({ request_id }) => request_id)
    expect(ids).toEqual(Array.from({ length: 30 }, (_, n) => `request-${29 - n}`))
    expect(second.next_cursor).toBeNull()
    expect(first.data[0]).not.toHaveProperty('request_body')
  })

  it.each([
    [{ tenant_id: 'ten_a' }, 10],
    [{ error: 'rate_limit_exceeded' }, 6],
    [{ failed: true }, 6],
    [{ failed: false }, 24],
    [{ status: 429, tenant_id: 'ten_a' }, 2],
    [{ model: 'gpt-4o-mini', provider: 'openai' }, 30],
    [{ provider: 'anthropic' }, 0],
    [{ operation: 'chat_completions.create', key_id: 'key_2' }, 0],
    [{ from: '2026-01-01T00:00:10.000Z', to: '2026-01-01T00:00:15.000Z' }, 5],
  ] as const)('is filtered by %o', async (query, found) => {
    const { list } = await populated()
    expect(await list(query)).toHaveLength(found)
  })

  it('returns the bodies of the newest request with an id, and not_found for an unknown id', async () => {
    const { useCases, ledger, clock } = await world()
    for (const response of ['old', 'new']) {
      ledger.record(callOf({ startedAt: clock.now(), bodies: () => ({ request: 'q', response }) }))
      await clock.advance(100)
    }
    const entry = await useCases['request_log.get'](call({ request_id: 'request-1' }, {}, undefined))
    expect(entry).toMatchObject({ request_body: 'q', response_body: 'new', bodies: 'kept' })
    const unknown = useCases['request_log.get'](call({ request_id: 'request-2' }, {}, undefined))
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' })
  })

  it('follows the settings of the project from the next request on', async () => {
    const { useCases, ledger, list } = await world()
    expect(await useCases['request_log_settings.get'](call({}, {}, undefined))).toEqual({
      mode: 'bodies',
      retention_days: 30,
    })
    const body = { mode: 'off', retention_days: 3 } as const
    for (let n = 0; n < 2; n++) expect(await useCases['request_log_settings.put'](call({}, {}, body))).toEqual(body)
    expect(await useCases['request_log_settings.get'](call({}, {}, undefined))).toEqual(body)
    ledger.record(callOf())
    expect(await list()).toEqual([])
  })
})
