import { describe, expect, it } from 'vitest'
import type { ActorCaller } from '#gateway/call/caller.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { JsonObject } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import type { TestModel } from '#test/support/test-model.ts'
import { ScriptedProvider } from '../sessions/harness.ts'
import { callOf, draft, keyed, move, newAgent, openAgentWorld, published, refusalOf, secretOf } from './harness.ts'

const review = (decision: 'approve' | 'reject', reason?: string) =>
  reason === undefined ? { decision } : { decision, reason }

describe('a version', () => {
  it('is drafted, submitted, rejected, submitted again, approved, deprecated and retired', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const made = await draft(world, agent, '1.0.0', { visibility: 'public', requirements: { region: 'eu' } })
    expect(made).toMatchObject({
      id: expect.stringMatching(/^agv_[0-9a-z]{26}$/),
      agent_id: agent,
      version: '1.0.0',
      status: 'draft',
      config: { model: 'scripted-1', system_prompt: 'I am 1.0.0.' },
      requirements: { region: 'eu' },
      visibility: 'public',
      test: null,
      review: null,
      created_by: 'key_prj_a',
    })
    const params = { agent_id: agent, version: '1.0.0' }
    const reviewed = (body: ReturnType<typeof review>) =>
      world.useCases['agent_versions.review'](callOf(params, {}, body))
    expect(await move(world, 'submit', agent, '1.0.0')).toMatchObject({ status: 'in_review' })
    expect(await reviewed(review('reject', 'Too long.'))).toMatchObject({
      status: 'draft',
      review: { decision: 'reject', reason: 'Too long.', by: 'key_prj_a' },
    })
    await move(world, 'submit', agent, '1.0.0')
    expect(await reviewed(review('approve'))).toMatchObject({ status: 'published', review: { decision: 'approve' } })
    expect(await move(world, 'deprecate', agent, '1.0.0')).toMatchObject({ status: 'deprecated' })
    const retired = await move(world, 'retire', agent, '1.0.0')
    expect(retired).toMatchObject({ status: 'retired', config: made.config })
    expect(await world.useCases['agent_versions.get'](callOf(params, {}, undefined))).toEqual(retired)
  })

  it('notifies webhooks and the audit log of every step', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    for (const verb of ['submit', 'publish', 'deprecate', 'retire'] as const) await move(world, verb, agent, '1.0.0')
    expect(world.heard.map(({ event_type }) => event_type)).toEqual([
      'agent_version.created',
      'agent_version.submitted',
      'agent_version.published',
      'agent_version.deprecated',
      'agent_version.retired',
    ])
    await world.notices.delivered()
    expect(await world.audited()).toEqual([
      'agent.created',
      'agent_version.created',
      'agent_version.deprecated',
      'agent_version.published',
      'agent_version.retired',
      'agent_version.submitted',
    ])
  })

  it('refuses a transition that its state does not allow, and does not change', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    expect(await refusalOf(move(world, 'retire', agent, '1.0.0'))).toBe('invalid_transition')
    expect(await refusalOf(move(world, 'deprecate', agent, '1.0.0'))).toBe('invalid_transition')
    await move(world, 'publish', agent, '1.0.0')
    expect(await refusalOf(move(world, 'publish', agent, '1.0.0'))).toBe('invalid_transition')
    expect(await refusalOf(move(world, 'submit', agent, '1.0.0'))).toBe('invalid_transition')
    const params = { agent_id: agent, version: '1.0.0' }
    expect(await world.useCases['agent_versions.get'](callOf(params, {}, undefined))).toMatchObject({
      status: 'published',
    })
  })

  it('is published once by concurrent requests', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    const outcomes = await Promise.all([1, 2, 3].map(() => refusalOf(move(world, 'publish', agent, '1.0.0'))))
    expect(outcomes.sort()).toEqual(['invalid_transition', 'invalid_transition', 'not refused'])
    expect(world.heard.filter(({ event_type }) => event_type === 'agent_version.published')).toHaveLength(1)
  })

  it('is created once per name by concurrent requests', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => refusalOf(draft(world, agent, '1.0.0'))))
    expect(outcomes.sort()).toEqual([
      'already_exists version',
      'already_exists version',
      'already_exists version',
      'not refused',
    ])
    const { data } = await world.useCases['agent_versions.list'](callOf({ agent_id: agent }, { limit: 20 }, undefined))
    expect(data).toHaveLength(1)
    expect(await refusalOf(draft(world, await newAgent(world), '1.0.0'))).toBe('not refused')
  })

  it('is created by the next request if the first one failed after it reserved the name', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const { create } = world.host
    world.host.create = () => Promise.reject(new Error('the process died'))
    await expect(draft(world, agent, '1.0.0')).rejects.toThrow('the process died')
    world.host.create = create
    expect(await draft(world, agent, '1.0.0', { visibility: 'public' })).toMatchObject({ visibility: 'public' })
    expect(await refusalOf(draft(world, agent, '1.0.0'))).toBe('already_exists version')
  })

  it('is returned again to a repeated request with the same idempotency key', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const body = { version: '1.0.0', config: { model: 'scripted-1' }, requirements: {}, visibility: 'private' } as const
    const call = keyed(callOf({ agent_id: agent }, {}, body), 'one-key')
    const first = await world.useCases['agent_versions.create'](call)
    expect((await world.useCases['agent_versions.create'](call)).id).toBe(first.id)
  })

  it('is not found for another project, another agent or another name', async () => {
    const world = await openAgentWorld()
    const [agent, other] = [await newAgent(world), await newAgent(world)]
    const { id } = await draft(world, agent, '1.0.0')
    const get = (agent_id: string, version: string, project = 'prj_a') =>
      refusalOf(world.useCases['agent_versions.get'](callOf({ agent_id, version }, {}, undefined, secretOf(project))))
    expect(await get(agent, id)).toBe('not refused')
    expect(await get(other, '1.0.0')).toBe('not_found version')
    expect(await get(other, id)).toBe('not_found version')
    expect(await get(agent, '1.0.1')).toBe('not_found version')
    expect(await get(agent, '1.0.0', 'prj_b')).toBe('not_found version')
    const list = world.useCases['agent_versions.list']
    expect(await refusalOf(list(callOf({ agent_id: agent }, { limit: 20 }, undefined, secretOf('prj_b'))))).toBe(
      'not_found agent_id',
    )
  })

  it('is listed by agent and status in pages, newest first', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) await draft(world, agent, version)
    await move(world, 'publish', agent, '1.1.0')
    await draft(world, await newAgent(world), '9.0.0')
    const list = (query: { limit: number; cursor?: string; status?: 'draft' | 'published' }) =>
      world.useCases['agent_versions.list'](callOf({ agent_id: agent }, query, undefined))
    const first = await list({ limit: 2 })
    expect(first.data.map(({ version }) => version)).toEqual(['2.0.0', '1.1.0'])
    const rest = await list({ limit: 2, cursor: first.next_cursor ?? '' })
    expect([rest.data.map(({ version }) => version), rest.next_cursor]).toEqual([['1.0.0'], null])
    expect((await list({ limit: 9, status: 'published' })).data.map(({ version }) => version)).toEqual(['1.1.0'])
    expect((await list({ limit: 9, status: 'draft' })).data.map(({ version }) => version)).toEqual(['2.0.0', '1.0.0'])
  })
})

const functionTool = (name: string, parameters: JsonObject = { type: 'object' }) => ({
  type: 'function',
  function: { name, parameters },
})

describe('the validation of a version', () => {
  it('reports the errors by field, and changes nothing', async () => {
    const world = await openAgentWorld({
      unknown: (model) =>
        model === 'gone-1' ? new ModelError('model_not_found', 'No provider offers it.') : undefined,
    })
    const agent = await newAgent(world)
    const sub = await newAgent(world)
    await draft(world, agent, '1.0.0', {
      config: {
        model: 'gone-1',
        system_prompt: '',
        tools: [
          functionTool('a'),
          functionTool('a'),
          functionTool('b', { type: 'array' }),
          functionTool('c', { type: 7 }),
        ],
        subagents: [agent, 'agt_nobody', sub],
        connectors: ['github'],
      },
      requirements: { skills: [{ name: 'sums' }] },
    })
    const params = { agent_id: agent, version: '1.0.0' }
    const before = await world.useCases['agent_versions.get'](callOf(params, {}, undefined))
    const { valid, findings } = await world.useCases['agent_versions.validate'](callOf(params, {}, undefined))
    expect(valid).toBe(false)
    expect(findings.map(({ severity, code, param }) => `${severity} ${code} ${param}`)).toEqual([
      'error model_not_found config.model',
      'warning no_system_prompt config.system_prompt',
      'error duplicate_tool config.tools[1]',
      'error bad_parameters config.tools[2].function.parameters',
      'error bad_parameters config.tools[3].function.parameters',
      'error subagent_is_itself config.subagents[0]',
      'error subagent_not_found config.subagents[1]',
      'warning subagent_not_published config.subagents[2]',
      'error capability_not_available config.connectors[0]',
      'error capability_not_available requirements.skills[0]',
    ])
    expect(await world.useCases['agent_versions.get'](callOf(params, {}, undefined))).toEqual(before)
    expect(world.scripted.requests).toEqual([])
  })

  it('warns of a tool whose address no request may reach', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const toolAt = (name: string, url: string) =>
      ({ type: 'http', name, description: '', parameters: {}, url }) as const
    const tools = [toolAt('near', 'http://127.0.0.1:9/'), toolAt('far', 'https://example.com/')]
    await draft(world, agent, '1.0.0', { config: { model: 'scripted-1', system_prompt: 'Hi.', tools } })
    const params = { agent_id: agent, version: '1.0.0' }
    const { valid, findings } = await world.useCases['agent_versions.validate'](callOf(params, {}, undefined))
    expect(findings.map(({ severity, code, param }) => `${severity} ${code} ${param}`)).toEqual([
      'warning url_refused config.tools[0].url',
    ])
    expect(valid).toBe(true)
  })

  it('reports nothing for a valid version, even once it is published', async () => {
    const world = await openAgentWorld()
    const [agent, sub] = [await newAgent(world), await newAgent(world)]
    await published(world, sub, '1.0.0')
    const subagents = [sub, { agent_id: sub, version: '1.0.0', description: 'Sums.' }]
    await published(world, agent, '1.0.0', { config: { tools: [functionTool('sum')], subagents } })
    const validate = world.useCases['agent_versions.validate']
    expect(await validate(callOf({ agent_id: agent, version: '1.0.0' }, {}, undefined))).toEqual({
      valid: true,
      findings: [],
    })
  })
})

describe('the test of a version', () => {
  const test = (world: Awaited<ReturnType<typeof openAgentWorld>>, agent: string, more: object = {}) =>
    world.useCases['agent_versions.test'](
      callOf({ agent_id: agent, version: '1.0.0' }, {}, { input: 'What can you do?', ...more }),
    )

  it('calls the model with a token limit and no tool execution, and stores the result with the draft', async () => {
    const world = await openAgentWorld({
      scripts: [{ text: ['Sums.'], calls: [{ name: 'sum', arguments: '{"a":1}' }] }],
    })
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0', { config: { tools: [functionTool('sum')], max_tokens: 100_000 } })
    const tested = await test(world, agent)
    expect(tested).toMatchObject({
      status: 'draft',
      test: {
        passed: true,
        input: 'What can you do?',
        output: 'Sums.',
        tool_calls: [{ tool: 'sum', arguments: '{"a":1}' }],
        model: 'scripted-1',
        usage: { cost_usd: '0.0003' },
        error: null,
        tested_by: 'key_prj_a',
      },
    })
    expect(world.scripted.requests).toHaveLength(1)
    expect(world.scripted.requests[0]).toMatchObject({ maxTokens: 512, tools: [{ name: 'sum' }] })
    const params = { agent_id: agent, version: '1.0.0' }
    expect(await world.useCases['agent_versions.get'](callOf(params, {}, undefined))).toEqual(tested)
  })

  it('is metered once, and not at all if the model did not answer', async () => {
    const fails = new ModelError('provider_error', 'It broke.')
    const world = await openAgentWorld({ scripts: [{ fails }, { text: ['Fine.'] }] })
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    await test(world, agent)
    await test(world, agent)
    await world.host.rows.shown()
    const rows = await new Table(world.records, usageRows, Date.now).list(projectScope('prj_a'), { limit: 9 })
    expect(rows.map(({ data }) => data)).toMatchObject([
      { operation: 'agent_version.test', agent_id: agent, model: 'scripted-1', provider_cost_usd: '0.0003' },
    ])
  })

  it('is metered, and stored with the version, if the draft was published meanwhile', async () => {
    const begun = Promise.withResolvers<void>()
    const answers = Promise.withResolvers<void>()
    const scripted = new ScriptedProvider([{ text: ['Fine.'] }])
    const provider: TestModel = {
      id: 'slow',
      stream: async (...call) => {
        begun.resolve()
        await answers.promise
        return scripted.stream(...call)
      },
    }
    const world = await openAgentWorld({ provider })
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    const tested = test(world, agent)
    await begun.promise
    await move(world, 'publish', agent, '1.0.0')
    answers.resolve()
    expect(await tested).toMatchObject({ status: 'published', test: { output: 'Fine.' } })
    await world.host.rows.shown()
    const rows = await new Table(world.records, usageRows, Date.now).list(projectScope('prj_a'), { limit: 9 })
    expect(rows.map(({ data }) => data)).toMatchObject([{ operation: 'agent_version.test', agent_id: agent }])
  })

  it('stores at most 2000 characters of the answer', async () => {
    const world = await openAgentWorld({ scripts: [{ text: ['a'.repeat(5000)] }] })
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    expect((await test(world, agent)).test?.output).toHaveLength(2000)
  })

  it('stores the failure of the model, and replaces it by the next success', async () => {
    const fails = new ModelError('provider_error', 'It broke.')
    const world = await openAgentWorld({ scripts: [{ fails }, { text: ['Fine.'] }] })
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    expect((await test(world, agent)).test).toMatchObject({
      passed: false,
      usage: null,
      error: { code: 'provider_error', message: 'It broke.' },
    })
    expect((await test(world, agent)).test).toMatchObject({ passed: true, output: 'Fine.', error: null })
  })

  it('is refused and leaves the draft unchanged if the project may not call models', async () => {
    const callers: ActorCaller[] = []
    const provider: TestModel = {
      id: 'refused',
      stream: async (_request, _onDelta, _signal, caller) => {
        callers.push(caller)
        throw new ServiceError('budget_exceeded')
      },
    }
    const world = await openAgentWorld({ provider })
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0')
    await expect(test(world, agent)).rejects.toMatchObject({ code: 'budget_exceeded' })
    const version = await world.useCases['agent_versions.get'](
      callOf({ agent_id: agent, version: '1.0.0' }, {}, undefined),
    )
    expect(version.test).toBeNull()
    expect(callers).toMatchObject([{ project: 'prj_a', keyId: 'key_prj_a', agentId: agent }])
  })

  it('is refused with everything that is missing, without a model call', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await draft(world, agent, '1.0.0', { config: { connectors: ['github'], mcp_servers: [{ url: 'https://x' }] } })
    const refused = test(world, agent)
    await expect(refused).rejects.toMatchObject({
      code: 'prerequisites_missing',
      details: { param: 'config.connectors[0]' },
      message: expect.stringMatching(/github.*config\.mcp_servers\[0\]/),
    })
    expect(await refusalOf(test(world, agent, { test_connection_ids: ['con_1'] }))).toBe(
      'prerequisites_missing test_connection_ids',
    )
    expect(world.scripted.requests).toEqual([])
  })

  it('is refused for published versions', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0')
    expect(await refusalOf(test(world, agent))).toBe('invalid_transition')
    expect(world.scripted.requests).toEqual([])
  })
})
