import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { attribute, type OtlpSpan, startReceiver } from './otlp-receiver.ts'
import { patience } from './patience.ts'
import { endsTurn } from './stream-reader.ts'
import { startToolServer } from './tool-server.ts'
import { World } from './world.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'

describe('a traced turn', () => {
  it('is one trace from the caller through request, step and effect to the model and the tool', async () => {
    const receiver = await startReceiver()
    const tool = await startToolServer()
    onTestFinished(() => tool.close())
    const world = await World.start({ tools: [tool], env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } })
    onTestFinished(() => world.stop())
    const session = await world.api.createSession()
    const answer = await fetch(`${world.url}/v1/sessions/${session}/turns`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.secretKey}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({
        input: 'Please use lookup',
        tools: [
          { type: 'http', name: 'lookup', description: 'Looks it up.', parameters: { type: 'object' }, url: tool.url },
        ],
      }),
    })
    expect(await answer.text()).toContain('turn.completed')

    const request = await receiver.named(/^POST \/v1\/sessions\/\{.*turns$/)
    const effect = await receiver.named(/^effect session\.callModel$/)
    const model = await receiver.named(/^chat /)
    await receiver.named(/^step session\.model_answered$|^step session\.model_/)
    const turn = await receiver.named(/^invoke_agent$/)
    const ran = await receiver.named(/^execute_tool lookup$/)
    expect(request).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331', kind: 2 })
    expect(attribute(request, 'http.response.status_code')).toBe('200')
    const ofTrace = receiver.spans.filter((span) => span.traceId === traceId)
    const ids = new Set(ofTrace.map(({ spanId }) => spanId))
    for (const { name, parentSpanId, spanId } of ofTrace)
      if (spanId !== request.spanId) expect(ids.has(parentSpanId ?? ''), `${name} has its parent`).toBe(true)
    expect(effect.traceId).toBe(traceId)
    expect(model).toMatchObject({ traceId, parentSpanId: effect.spanId, kind: 3 })
    expect(attribute(model, 'gen_ai.operation.name')).toBe('chat')
    expect(attribute(model, 'gen_ai.provider.name')).toBe('simulated')
    expect(Number(attribute(model, 'gen_ai.usage.output_tokens'))).toBeGreaterThan(0)
    expect(BigInt(model.endTimeUnixNano)).toBeGreaterThan(BigInt(model.startTimeUnixNano))
    expect(turn).toMatchObject({ traceId, status: {} })
    expect(attribute(turn, 'gen_ai.conversation.id')).toBe(session)
    expect(effect.parentSpanId).toBe(turn.spanId)
    expect(attribute(model, 'gen_ai.conversation.id')).toBe(session)
    expect(listOf(model, 'gen_ai.response.finish_reasons')).toEqual(['tool_calls'])
    expect(Number(attribute(model, 'gen_ai.response.time_to_first_chunk'))).toBeGreaterThan(0)
    const ranIn = receiver.spans.find(({ spanId }) => spanId === ran.parentSpanId)
    expect(ranIn).toMatchObject({ name: 'effect session.runTool', parentSpanId: turn.spanId })
    expect(attribute(ran, 'gen_ai.operation.name')).toBe('execute_tool')
    expect(attribute(ran, 'gen_ai.tool.name')).toBe('lookup')
    expect(attribute(ran, 'gen_ai.conversation.id')).toBe(session)
    expect(ran.status).toEqual({})
    expect(tool.calls[0]?.headers.traceparent, 'the tool receives the trace').toMatch(new RegExp(`^00-${traceId}-`))
  })

  it('shows a failing tool and a failed turn as errors', async () => {
    const receiver = await startReceiver()
    const tool = await startToolServer()
    await tool.close()
    const world = await World.start({ tools: [tool], env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } })
    onTestFinished(() => world.stop())
    const session = await world.api.createSession()
    const lookup = {
      type: 'http',
      name: 'lookup',
      description: 'Finds.',
      parameters: { type: 'object' },
      url: tool.url,
    }
    await (await world.api.turn(session, { input: 'Please use lookup', tools: [lookup] })).until(endsTurn)
    const ran = await receiver.named(/^execute_tool lookup$/)
    expect(ran.status.code).toBe(2)
    expect(attribute(ran, 'error.type')).toBe('tool_unreachable')
    await (await world.api.turn(session, { input: 'fail please' })).until(endsTurn)
    await vi.waitFor(() => {
      const turns = receiver.spans.filter(({ name }) => name === 'invoke_agent')
      expect(turns.map(({ status }) => status.code)).toEqual([undefined, 2])
      expect(attribute(turns[1] ?? ran, 'error.type')).toBe('provider_error')
    }, patience)
    const text = await (await fetch(`${world.url}/metrics`)).text()
    expect(text).toMatch(/^troupe_tool_calls_total\{kind="http",outcome="failed"\} 1$/m)
  })
})

/** The values of a list attribute. */
const listOf = ({ attributes }: OtlpSpan, name: string): unknown => {
  const value: unknown = attributes.find(({ key }) => key === name)?.value
  return Object(Object(value).arrayValue).values?.map((each: unknown) => Object(each).stringValue)
}

describe('the log and metrics for operators', () => {
  it('have a line with ids for a failed turn and a refused login, and counters of turns, models and actors', async () => {
    const world = await World.start()
    onTestFinished(() => world.stop())
    const session = await world.api.createSession()
    await (await world.api.turn(session, { input: 'hello' })).until(endsTurn)
    await (await world.api.turn(session, { input: 'fail please' })).until(endsTurn)
    const refused = await world.as('').post('/api/auth/login', { email: world.ownerEmail, password: 'wrong password' })
    expect(refused.status).toBe(401)
    expect((await world.api.post('/v1/actions', { tool: 'refund', arguments: {} })).status).toBe(201)
    expect((await world.api.get('/v1/actions')).body.data).toHaveLength(1)
    const text = await (await fetch(`${world.url}/metrics`)).text()
    expect(text).toMatch(/^troupe_turns_total\{outcome="completed"\} 1$/m)
    expect(text).toMatch(/^troupe_turns_total\{outcome="failed"\} 1$/m)
    expect(text).toMatch(/^troupe_turn_duration_seconds_count\{outcome="completed"\} 1$/m)
    expect(text).toMatch(/^troupe_effects_total\{effect="session\.callModel",outcome="done"\} 2$/m)
    expect(text).toMatch(/^troupe_model_calls_total\{provider="simulated",model="[^"]+",outcome="ok"\} 1$/m)
    expect(text).toMatch(/^troupe_model_tokens_total\{.*direction="output"\} \d+$/m)
    expect(text).toMatch(/^troupe_actors\{machine="session",state="[a-z_]+"\} 1$/m)
    expect(text).toMatch(/^troupe_commit_duration_seconds_count \d+$/m)
    expect(text).toMatch(/^troupe_refused_logins_total 1$/m)
    expect(text).toMatch(/^troupe_leases 256$/m)
    expect(text).toMatch(/^troupe_pending_approvals 1$/m)
    expect(text).toMatch(/^troupe_oldest_approval_seconds \d/m)
    expect(text).toMatch(/^troupe_queued_runs 0$/m)
    expect(text).toMatch(/^troupe_parked_actors 0$/m)
    expect(text).toMatch(/^troupe_model_first_byte_seconds_count\{.*\} [1-9]/m)
    expect(text).toMatch(/^troupe_model_cost_usd_total\{.*\} \d/m)
    expect(text).toMatch(/^troupe_model_retries_total\{.*\} [1-9]/m)
    expect(text).toMatch(/^# TYPE troupe_reminder_lag_seconds histogram$/m)
    const lines = world.server
      .log()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'turn failed', actorId: session, code: expect.any(String) }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'login refused', address: '127.0.0.1', code: 'invalid_credentials' }),
    )
  })
})

/** Samples of `/metrics` by their whole names, labels included. */
const samplesOf = async (url: string): Promise<ReadonlyMap<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('troupe_'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describe('metrics of background work', () => {
  it('are exact for runs, webhook deliveries and reminders', async () => {
    const tool = await startToolServer()
    onTestFinished(() => tool.close())
    const world = await World.start({ env: { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } })
    onTestFinished(() => world.stop())
    const { api } = world
    const webhook = (name: string, url: string, event: string) =>
      api.post('/v1/webhooks', { name, url, events: [event] })
    expect((await webhook('good', tool.url, 'run.completed')).status).toBe(201)
    expect((await webhook('bad', `${world.url}/nowhere`, 'run.failed')).status).toBe(201)
    const agent = await api.post('/v1/agents', { name: 'Worker', config: { model: 'simulated-1' } })
    const startedAt = performance.now()
    for (const prompt of ['hello', 'hello again', 'fail please'])
      expect((await api.post(`/v1/agents/${agent.body.id}/runs`, { input: { prompt } })).status).toBe(202)
    const expiring = await api.post('/v1/actions', { tool: 'refund', arguments: {}, expires_in: 1 })
    expect(expiring.status).toBe(201)

    const samples = await vi.waitFor(async () => {
      const read = await samplesOf(world.url)
      expect(read.get('troupe_runs_total{outcome="failed"}')).toBe(1)
      expect(read.get('troupe_webhook_attempts_total{outcome="delivered"}')).toBe(2)
      // a reminder made the second attempt
      expect(read.get('troupe_webhook_attempts_total{outcome="retried"}')).toBe(2)
      return read
    }, patience)
    const seconds = (performance.now() - startedAt) / 1000
    expect(samples.get('troupe_runs_total{outcome="completed"}')).toBe(2)
    expect(samples.get('troupe_run_duration_seconds_count{outcome="completed"}')).toBe(2)
    const lasted = samples.get('troupe_run_duration_seconds_sum{outcome="completed"}') ?? 0
    expect(lasted).toBeGreaterThan(0)
    expect(lasted).toBeLessThan(2 * seconds)
    expect(samples.get('troupe_queued_runs')).toBe(0)
    expect(samples.has('troupe_webhook_attempts_total{outcome="failed"}')).toBe(false)
    expect(samples.get('troupe_outgoing_requests_total{kind="webhook",outcome="2xx"}')).toBe(2)
    expect(samples.get('troupe_outgoing_requests_total{kind="webhook",outcome="4xx"}')).toBe(2)
    expect(samples.get('troupe_outgoing_request_duration_seconds_count{kind="webhook"}')).toBe(4)
    expect((await api.get(`/v1/actions/${expiring.body.id}`)).body.status).toBe('expired')
    // the expiry of the action, and the second attempt
    expect(samples.get('troupe_reminder_lag_seconds_count')).toBe(2)
    expect(samples.get('troupe_reminder_lag_seconds_bucket{le="+Inf"}')).toBe(2)
    const late = samples.get('troupe_reminder_lag_seconds_sum') ?? Number.NaN
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(seconds)
    expect(tool.calls).toHaveLength(2)
  })
})
