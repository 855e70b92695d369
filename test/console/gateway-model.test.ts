import { describe, expect, it } from 'vitest'
import { healthOf, priceParts, troublesOf } from '../../console/gateway/gateway-model.ts'

const at = '2026-01-01T00:00:00.000Z'
const line = {
  ...{ id: 'rlg_1', started_at: at, need: 'chat' as const, credential: 'secret_key', connection_id: null },
  ...{ guardrails: [], cache: null, saved_usd: null, bodies: 'off' as const },
  ...{ request_id: 'req_1', at, operation: 'chat_completions.create', status: 200, error: null, streamed: false },
  ...{
    key_id: null,
    tenant_id: null,
    external_user_id: null,
    agent_id: null,
    asked_model: 'm',
    provider: 'p',
    model: 'm',
  },
  ...{ source: 'managed' as const, first_byte_ms: 1, duration_ms: 10, attempts: 1, redactions: {} },
  ...{ input_tokens: 100, output_tokens: 50, cached_tokens: 20, cache_write_tokens: 0, reasoning_tokens: 10 },
  ...{ characters: null, seconds: null, images: null, cost_usd: '0.0002' },
}
const entry = { ...line, failed_attempts: [], request_body: null, response_body: null }
const limit = {
  ...{
    id: 'lim_1',
    subject: 'tenant' as const,
    subject_id: 'ten_1',
    requests_per_minute: null,
    tokens_per_minute: null,
  },
  ...{ budget_day_usd: '10', budget_month_usd: null, budget_total_usd: null, spent_day_usd: '9' },
  ...{ spent_month_usd: null, spent_total_usd: null, reserved_usd: '0', created_at: at, updated_at: at },
}
const healthy = { recent: [line], limits: [], connections: [], unpriced: 0 }

describe('the price of a request', () => {
  it('is split by unit, each with its own rate', () => {
    const price = { input: '0.000001', cached: '0.0000001', output: '0.000002' }
    const parts = priceParts({ ...entry, price, cost_usd: '0.000182' })
    expect(parts.map(({ name, count }) => [name, count])).toEqual([
      ['input tokens', 80],
      ['cached tokens', 20],
      ['output tokens', 40],
      ['reasoning tokens', 10],
    ])
    expect(parts.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(0.000182, 12)
  })

  it('shows the part that no unit explains separately', () => {
    const parts = priceParts({ ...entry, price: { input: '0.000001', output: '0' }, cost_usd: '0.0101' })
    expect(parts.at(-1)).toMatchObject({ name: 'prices by size, searches or audio' })
    expect(parts.at(-1)?.usd).toBeCloseTo(0.01, 12)
  })

  it('has no parts if it is unknown', () => {
    expect(priceParts({ ...entry, price: null })).toEqual([])
    expect(priceParts({ ...entry, price: { input: '1' }, cost_usd: null })).toEqual([])
  })
})

describe('the gateway summary', () => {
  it('has the latency of successful calls and the newest failure', () => {
    const failed = { ...line, error: 'provider_error', duration_ms: 9000 }
    const health = healthOf([failed, line, { ...line, duration_ms: 30 }])
    expect(health).toMatchObject({
      calls: 3,
      failed: 1,
      p50: 30,
      p95: 30,
      lastError: 'provider_error',
      lastErrorAt: at,
    })
    expect(healthOf([failed])).toMatchObject({ p50: null, p95: null })
  })

  it('needs no attention while all is well', () => {
    expect(troublesOf(healthy)).toEqual([])
    expect(troublesOf({ ...healthy, limits: [{ ...limit, spent_day_usd: '7.9' }] })).toEqual([])
  })

  it('lists failing providers and connections, used budgets and calls without a price', () => {
    const failing = Array.from({ length: 3 }, () => ({ ...line, error: 'provider_timeout' }))
    const connection = {
      ...{ id: 'pvc_1', name: 'Own', provider: 'openai', is_active: true, status: 'failed' as const },
      ...{ last_tested_at: at, model_count: 1 },
    }
    const limits = [limit, { ...limit, id: 'lim_2', spent_day_usd: '10' }]
    const found = troublesOf({ recent: failing, limits, connections: [connection], unpriced: 2 })
    expect(found.map(({ id, tone }) => [id, tone])).toEqual([
      ['provider p', 'bad'],
      ['pvc_1', 'bad'],
      ['lim_1 for today', 'wait'],
      ['lim_2 for today', 'bad'],
      ['unpriced', 'wait'],
    ])
  })
})
