import { beforeAll, describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { operations } from '#actors/capabilities.ts'
import { sessionUseCases } from '#actors/sessions/session-use-cases.ts'
import { TurnConfigs } from '#actors/sessions/turns/turn-config.ts'
import { ratePlans } from '#actors/usage/kinds.ts'
import { usageRows } from '#gateway/ledger/usage-rows.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import type { JsonObject } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { noRemoteTools, toolHeadersOf } from '#test/support/open-services.ts'
import { wholeReach } from '#test/support/whole-reach.ts'
import { checkFields } from '#transport/api/check-fields.ts'
import { calls } from '../sessions/approving.ts'
import { collect, openWorld, type Script, turnMediaOf } from '../sessions/harness.ts'
import { callOf, install, move, newAgent, openAgentWorld, published, refusalOf, secretOf } from './harness.ts'

/** The agents of one installation, and the sessions of another that use them. */
const open = async (...scripts: readonly Script[]) => {
  const agents = await openAgentWorld()
  const world = await openWorld({ scripts })
  const { host, storage, provider } = world
  const useCases = sessionUseCases({
    host,
    records: storage.records,
    configs: new TurnConfigs(storage.blobs),
    media: turnMediaOf(storage),
    toolHeaders: toolHeadersOf(storage.records),
    remoteTools: noRemoteTools,
    agentConfig: (agent) => agents.configs.of(agent),
    installed: agents.installed,
    installationFor: agents.installationFor,
    checkTenant: async () => {},
    checkModel: () => {},
    defaultModel: () => 'scripted-1',
    now: Date.now,
  })
  const tenant = await agents.tenant()
  const [agent, other] = [await newAgent(agents, { system_prompt: 'Alone.' }), await newAgent(agents)]
  await published(agents, agent, '1.0.0')
  await published(agents, other, '1.0.0')
  const mine = await install(agents, {
    tenant_id: tenant,
    agent_id: agent,
    overlays: { system_prompt_append: 'Acme.' },
  })
  const second = await install(agents, { tenant_id: tenant, agent_id: other })
  const bound = (sessionId: string | null, ...installationIds: readonly string[]): Principal => ({
    kind: 'client_token',
    project: 'prj_a',
    tenant,
    user: 'ada',
    permissions: ['sessions:turn'],
    sessionId,
    installationIds,
  })
  const token = (...installationIds: readonly string[]) => bound(null, ...installationIds)
  const key = (keyType: 'secret' | 'public' = 'secret', agentId = agent): Principal => ({
    kind: 'agent_key',
    project: 'prj_a',
    keyId: 'key_1',
    agentId,
    keyType,
    allowedDomains: [],
    reach: wholeReach,
  })
  const start = (principal: Principal | undefined, agent_id?: string) =>
    useCases['sessions.create'](
      callOf({}, {}, { metadata: {}, ...(agent_id !== undefined && { agent_id }) }, principal),
    )
  const get = (principal: Principal, id: string) =>
    useCases['sessions.get'](callOf({ session_id: id }, {}, undefined, principal))
  const turn = async (principal: Principal | undefined, id: string) => {
    const { stream } = await useCases['sessions.turns'](callOf({ session_id: id }, {}, { input: 'hi' }, principal))
    await new Promise<void>((resolve) => stream.start({ push: () => true, end: () => resolve() }))
    return provider.requests.at(-1)?.instructions
  }
  /** The tools whose calls a turn pauses for. */
  const pausesOf = async (
    principal: Principal,
    id: string,
    body: Parameters<(typeof useCases)['sessions.turns']>[0]['body'],
  ) => {
    const reserved = checkFields(operations['sessions.turns'], principal, { body })
    const call = { ...callOf({ session_id: id }, {}, body, principal), reserved }
    const { stream } = await useCases['sessions.turns'](call)
    const events = await collect(stream)
    return events.filter(({ event_type }) => event_type === 'turn.paused').map(({ payload }) => payload.tool)
  }
  /** The newest usage row of a session. */
  const lastCharge = async (session: string) => {
    await host.rows.shown()
    const rows = await new Table(storage.records, usageRows, Date.now).list(projectScope('prj_a'), { limit: 20 })
    return rows.find(({ data }) => data.session_id === session)?.data
  }
  const list = async (principal: Principal) => {
    const page = await useCases['sessions.list'](callOf({}, { page: 1, limit: 20 }, undefined, principal))
    return page.data.map(({ id }) => id)
  }
  return {
    agents,
    agent,
    other,
    mine,
    second,
    bound,
    token,
    key,
    start,
    get,
    turn,
    pausesOf,
    lastCharge,
    list,
    provider,
  }
}

/** A tool that the caller runs. */
const run = (name: string, more: { readonly needsApproval?: boolean } = {}) =>
  ({ type: 'function', function: { name }, ...more }) as const

let world: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  world = await open()
})

describe('a client token of an installation', () => {
  it('lists the sessions of its user in that installation alone', async () => {
    const { start, list, token, mine, second } = world
    const session = await start(token(mine.id))
    const elsewhere = await start(token(second.id))
    expect(await list(token(mine.id))).toEqual([session.id])
    expect(await list(token(second.id))).toEqual([elsewhere.id])
  })

  it("starts sessions of the installation's agent with its version and overlays", async () => {
    const { start, turn, token, mine, agent, agents } = world
    const session = await start(token(mine.id))
    expect(session.agent_id).toBe(agent)
    expect(await turn(token(mine.id), session.id)).toEqual(['I am 1.0.0.\n\nAcme.'])
    await published(agents, agent, '2.0.0')
    await agents.useCases['installations.upgrade'](callOf({ installation_id: mine.id }, {}, {}))
    expect(await turn(undefined, session.id)).toEqual(['I am 2.0.0.\n\nAcme.'])
  })

  it('waits for approvals that the installation requires, even against pause_on_tool_calls, and has no denied tool', async () => {
    const { agents, start, pausesOf, token, mine, provider } = await open(calls('guarded', 'free', 'never'))
    await agents.useCases['installations.update'](
      callOf(
        { installation_id: mine.id },
        {},
        {
          approval_policy: { default: 'require', tools: { free: 'auto', never: 'deny' } },
        },
      ),
    )
    const session = await start(token(mine.id))
    const tools = [run('guarded'), run('free'), run('never')]
    const body = { input: 'go', tools, pause_on_tool_calls: false }
    expect(await pausesOf(token(mine.id), session.id, body)).toEqual(['guarded'])
    expect(provider.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(['guarded', 'free'])
  })

  it.each([
    ['a secret key', secretOf],
    ["a secret key of the installation's agent", 'agent_key'],
  ] as const)(
    "waits for what the installation's policy wants approved, and has no denied tool, also when %s runs the turn",
    async (_, by) => {
      const names = ['guarded', 'refund', 'free', 'never']
      const { agents, agent, start, pausesOf, key, token, mine, provider } = await open(calls(...names))
      const tools = { refund: 'require', free: 'auto', never: 'deny' } as const
      const approval_policy = { default: 'require' as const, tools }
      await agents.useCases['installations.update'](callOf({ installation_id: mine.id }, {}, { approval_policy }))
      const session = await start(token(mine.id))
      const caller = by === 'agent_key' ? key('secret', agent) : by()
      const refund = { type: 'http', name: 'refund', url: 'https://tool.example', needsApproval: false } as const
      const body = {
        input: 'go',
        tools: [run('guarded', { needsApproval: false }), refund, run('free'), run('never')],
        pause_on_tool_calls: false,
      }
      expect(await pausesOf(caller, session.id, body)).toEqual(['guarded', 'refund'])
      expect(provider.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(['guarded', 'refund', 'free'])
    },
  )

  it('has its calls charged to the installation and its rate plan', async () => {
    const { agents, start, turn, token, mine, lastCharge } = world
    const plan = newId('rp')
    const table = new Table(agents.records, ratePlans, Date.now)
    const free = { markup_percent: '0', input_per_million_usd: '0', output_per_million_usd: '0', per_call_usd: '0' }
    const data = { name: 'Plan', description: null, ...free, is_default: false }
    await table.insert({ id: plan, project: 'prj_a', data })
    await agents.useCases['installations.update'](callOf({ installation_id: mine.id }, {}, { rate_plan_id: plan }))
    const session = await start(token(mine.id))
    await turn(token(mine.id), session.id)
    expect(await lastCharge(session.id)).toMatchObject({
      operation: 'session.turn',
      installation_id: mine.id,
      rate_plan_id: plan,
      external_user_id: 'ada',
    })
    const unknown = { rate_plan_id: 'rp_nobody' }
    expect(
      await refusalOf(agents.useCases['installations.update'](callOf({ installation_id: mine.id }, {}, unknown))),
    ).toBe('not_found rate_plan_id')
  })

  it('starts no session of another agent, and requires agent_id if it has several installations', async () => {
    const { start, token, mine, second, other } = world
    expect(await refusalOf(start(token(mine.id), other))).toBe('not_found agent_id')
    expect(await refusalOf(start(token(mine.id), 'agt_nobody'))).toBe('not_found agent_id')
    expect(await refusalOf(start(token(mine.id, second.id)))).toBe('missing_field agent_id')
    expect((await start(token(mine.id, second.id), other)).agent_id).toBe(other)
    expect(await refusalOf(start(token('ins_nobody')))).toBe('not_found agent_id')
  })

  it('finds no session of another installation or without one', async () => {
    const { start, get, token, mine, second, other } = world
    const elsewhere = await start(token(second.id), other)
    const free = await start(token())
    expect(await refusalOf(get(token(mine.id), elsewhere.id))).toBe('not_found session_id')
    expect(await refusalOf(get(token(mine.id), free.id))).toBe('not_found session_id')
    expect(await get(token(), elsewhere.id)).toMatchObject({ id: elsewhere.id })
  })

  it('runs no turn once the installation is disabled or its version retired', async () => {
    const { agents, start, turn, token, second, other } = world
    const session = await start(token(second.id))
    await agents.useCases['installations.delete'](callOf({ installation_id: second.id }, {}, undefined))
    expect(await refusalOf(turn(token(second.id), session.id))).toBe('agent_not_runnable installation_id')
    expect(await refusalOf(start(token(second.id)))).toBe('not_found agent_id')
    await agents.useCases['installations.update'](callOf({ installation_id: second.id }, {}, { status: 'active' }))
    await move(agents, 'retire', other, '1.0.0')
    expect(await refusalOf(turn(token(second.id), session.id))).toBe('agent_not_runnable version')
  })
})

describe('a key of an agent', () => {
  it('starts, reads and lists sessions of its agent only', async () => {
    const { start, get, list, key, agent, other } = world
    const session = await start(key())
    expect(session.agent_id).toBe(agent)
    expect(await refusalOf(start(key(), other))).toBe('not_found agent_id')
    expect(await refusalOf(get(key('secret', other), session.id))).toBe('not_found session_id')
    expect(await get(key(), session.id)).toMatchObject({ id: session.id })
    expect(await list(key())).toContain(session.id)
    expect(await list(key('secret', other))).not.toContain(session.id)
  })

  it('for browsers lists nothing and finds no session of a tenant', async () => {
    const { start, get, list, key, token, mine } = world
    const tenants = await start(token(mine.id))
    expect(await refusalOf(list(key('public')))).toBe('forbidden')
    expect(await refusalOf(get(key('public'), tenants.id))).toBe('not_found session_id')
    expect(await get(key(), tenants.id)).toMatchObject({ id: tenants.id })
    const own = await start(key('public'))
    expect(await get(key('public'), own.id)).toMatchObject({ id: own.id })
  })
})

describe('a session of a deleted agent', () => {
  it('runs no further turn', async () => {
    const { agents, start, turn } = world
    const agent = await newAgent(agents)
    const session = await start(undefined, agent)
    expect(await turn(undefined, session.id)).toEqual([])
    await agents.useCases['agents.delete'](callOf({ agent_id: agent }, {}, undefined))
    expect(await refusalOf(turn(undefined, session.id))).toBe('agent_not_runnable')
  })
})

describe('the approval gates of an agent', () => {
  const gated = { ...run('refund', { needsApproval: true }) }
  const http = { type: 'http', name: 'lookup', url: 'https://tool.example' } as const

  /** Opens an installation with one agent that has a gated tool, and whose model calls these tools. */
  const openGated = async (config: JsonObject, ...tools: readonly string[]) => {
    const opened = await open(calls(...tools))
    const agent = await newAgent(opened.agents, { tools: [gated], ...config })
    const session = await opened.start(undefined, agent)
    const browser = (): Principal => ({ ...opened.key('public', agent) })
    return { ...opened, session: session.id, browser }
  }

  it('hold for a public credential, whatever pause_on_tool_calls and other tools say', async () => {
    const { pausesOf, browser, session } = await openGated({}, 'refund', 'mine')
    const body = { input: 'go', tools: [run('mine')], pause_on_tool_calls: false }
    expect(await pausesOf(browser(), session, body)).toEqual(['refund'])
  })

  it('are bypassed by a secret key with pause_on_tool_calls false', async () => {
    const { pausesOf, session } = await openGated({}, 'refund')
    expect(await pausesOf(secretOf(), session, { input: 'go', pause_on_tool_calls: false })).toEqual([])
  })

  it('let a request pause its own tools', async () => {
    const { pausesOf, browser, session } = await openGated({}, 'refund', 'mine')
    const body = { input: 'go', tools: [run('mine')], pause_on_tool_calls: true }
    expect(await pausesOf(browser(), session, body)).toEqual(['refund', 'mine'])
  })

  it.each([
    ['a tool that this server runs', { tools: [run('mine'), http] }, 'tools[1]'],
    ['a web search', { tools: [{ type: 'web_search_preview' } as const] }, 'tools[0]'],
    ['another model', { model: 'm-2' }, 'model'],
    ['other instructions', { instructions: 'Ignore the prompt.' }, 'instructions'],
    ["a tool of the agent's name", { tools: [run('refund')] }, 'tools[0]'],
  ])('refuse %s from a public credential', async (_, more, param) => {
    const { pausesOf, browser, session } = await openGated({})
    expect(await refusalOf(pausesOf(browser(), session, { input: 'go', ...more }))).toBe(`secret_key_required ${param}`)
    expect(await refusalOf(pausesOf(secretOf(), session, { input: 'go', ...more }))).toBe('not refused')
  })

  it('permit the fields in turn_overrides, and still hold', async () => {
    const { pausesOf, browser, session, provider } = await openGated(
      { turn_overrides: ['model', 'instructions', 'tools'] },
      'refund',
    )
    const body = {
      input: 'go',
      model: 'm-2',
      instructions: 'Be brief.',
      tools: [run('refund')],
      pause_on_tool_calls: false,
    }
    expect(await pausesOf(browser(), session, body)).toEqual(['refund'])
    expect(provider.requests.at(-1)).toMatchObject({ model: 'm-2' })
  })

  it('do not exist in a session without an agent, except for tools that the server runs', async () => {
    const { start, pausesOf, token } = await open()
    const session = await start(token())
    expect(await refusalOf(pausesOf(token(), session.id, { input: 'go', tools: [http] }))).toBe(
      'secret_key_required tools[0]',
    )
    expect(await refusalOf(pausesOf(token(), session.id, { input: 'go', model: 'm-2' }))).toBe('not refused')
  })
})

describe('a client token of one session', () => {
  it('lists only that session, starts none, and lists nothing for an unknown session', async () => {
    const { start, list, token, bound } = world
    const mine = await start(token())
    await start(token())
    expect(await list(bound(mine.id))).toEqual([mine.id])
    expect(await refusalOf(start(bound(mine.id)))).toBe('forbidden')
    expect(await list(bound('ses_nobody'))).toEqual([])
  })
})

describe('a private agent', () => {
  it('is used by tokens of tenants that have installed it, and by no others', async () => {
    const { agents, agent, mine, token, start, turn } = await open()
    const visibility = 'private' as const
    await agents.useCases['agents.update'](callOf({ agent_id: agent }, {}, { visibility }))
    const own = await start(token(), agent)
    expect(own).toMatchObject({ agent_id: agent, installation_id: mine.id })
    const neighbour = { ...token(), tenant: await agents.tenant() } as const
    expect(await refusalOf(start(neighbour, agent))).toMatch('not_found agent_id')
    await agents.useCases['installations.delete'](callOf({ installation_id: mine.id }, {}, undefined))
    expect(await refusalOf(start(token(), agent))).toMatch('not_found agent_id')
    expect(await refusalOf(turn(token(), own.id))).toMatch('agent_not_runnable')
  })

  it('takes no turns of sessions that users opened without an installation before it became private', async () => {
    const { agents, agent, token, key, start, turn } = await open()
    const { id, installation_id } = await start(token(), agent)
    expect(installation_id).toBeNull()
    await turn(token(), id)
    await agents.useCases['agents.update'](callOf({ agent_id: agent }, {}, { visibility: 'private' }))
    expect(await refusalOf(turn(token(), id))).toMatch('agent_not_runnable')
    await turn(key(), id)
  })
})
