import { afterEach, describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { withDeciders } from '#actors/sessions/turns/tool-deciders.ts'
import { planTurn } from '#actors/sessions/turns/turn-plan.ts'
import { shownPayload } from '#records/shown-event.ts'
import { calls, functionTool, httpTool, lastPayload } from './approving.ts'
import { callOf, collect, openWorld, type World } from './harness.ts'

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const every = ['sessions:turn', 'sessions:approve', 'sessions:tools'] as const
const token = (
  permissions: readonly string[],
  user = 'ada',
  sessionId: string | null = null,
): Extract<Principal, { kind: 'client_token' }> => ({
  ...({ kind: 'client_token', project: 'prj_a', tenant: 'ten_a' } as const),
  ...{ user, permissions, sessionId, installationIds: [] },
})

const tools = [
  httpTool('operators', { needsApproval: true }),
  httpTool('users', { needsApproval: true, approver: 'end_user' }),
  { ...functionTool('servers', true), approver: 'end_user' as const },
]
const pages = [{ ...functionTool('pages', true), approver: 'end_user' as const }]

/** A session of Ada's whose turn waits for a call of this tool; a page declares the tool `pages`. */
const waitFor = async (tool: string) => {
  const world = await openWorld({ scripts: [calls(tool), { text: ['done'] }] })
  worlds.push(world)
  const { id } = await world.useCases['sessions.create'](callOf({}, {}, { metadata: {} }, token(every)))
  const by = tool === 'pages' ? token(['sessions:turn']) : undefined
  const body = { input: 'go', tools: tool === 'pages' ? pages : tools }
  const { stream } = await world.useCases['sessions.turns'](callOf({ session_id: id }, {}, body, by))
  const paused = lastPayload(await collect(stream), 'turn.paused') ?? {}
  const action_id = String(paused.action_id)
  const outputs = { tool_results: [{ action_id, output: 'from the page' }] }
  const approveBy = (principal: Principal, more: object = tool === 'pages' || tool === 'servers' ? outputs : {}) =>
    world.useCases['sessions.approve'](callOf({ session_id: id }, {}, { action_id, ...more }, principal))
  const rejectBy = (principal: Principal) =>
    world.useCases['sessions.reject'](callOf({ session_id: id }, {}, { action_id }, principal))
  return { world, id, action_id, paused, approveBy, rejectBy }
}

const outcome = async (decision: Promise<object>): Promise<string> =>
  decision.then(
    () => 'decided',
    (error: unknown) => String(Object(error).code),
  )

const approve = ['sessions:approve']
const run = ['sessions:tools']
const both = [...approve, ...run]

/** Tool, permissions of the token, and the outcomes of its approval and of its rejection. */
const matrix: readonly (readonly [string, readonly string[], string, string])[] = [
  ['operators', approve, 'forbidden', 'forbidden'],
  ['operators', both, 'forbidden', 'forbidden'],
  ['users', approve, 'decided', 'decided'],
  ['users', run, 'insufficient_scope', 'insufficient_scope'],
  ['users', both, 'decided', 'decided'],
  ['servers', approve, 'forbidden', 'decided'],
  ['servers', run, 'forbidden', 'insufficient_scope'],
  ['servers', both, 'forbidden', 'decided'],
  ['pages', approve, 'insufficient_scope', 'insufficient_scope'],
  ['pages', run, 'decided', 'decided'],
  ['pages', both, 'decided', 'decided'],
]

describe('a client token', () => {
  it.each(matrix)('that waits for %s with %j: approval is %s, rejection is %s', async (tool, permissions, yes, no) => {
    const first = await waitFor(tool)
    expect(await outcome(first.approveBy(token(permissions)))).toBe(yes)
    const second = await waitFor(tool)
    expect(await outcome(second.rejectBy(token(permissions)))).toBe(no)
  })

  it.each(['users', 'pages'])('of another user, or for another session, does not find a call of %s', async (tool) => {
    const { approveBy, rejectBy } = await waitFor(tool)
    for (const principal of [token(every, 'eve'), token(every, 'ada', 'ses_01kb0000000000000000000000')]) {
      expect(await outcome(approveBy(principal))).toBe('not_found')
      expect(await outcome(rejectBy(principal))).toBe('not_found')
    }
    expect(await outcome(approveBy({ ...token(every), installationIds: ['ins_1'] }))).toBe('not_found')
  })

  it('does not reach calls of another of its sessions by their ids', async () => {
    const { world, approveBy, action_id } = await waitFor('users')
    const other = await world.useCases['sessions.create'](callOf({}, {}, { metadata: {} }, token(every)))
    const call = callOf({ session_id: other.id }, {}, { action_id }, token(every))
    expect(await outcome(world.useCases['sessions.approve'](call))).toBe('not_found')
    expect(await outcome(world.useCases['sessions.reject'](call))).toBe('not_found')
    expect(await outcome(approveBy(token(every)))).toBe('decided')
  })

  it("does not decide the operator's calls among the outputs that it sends", async () => {
    const world = await openWorld({ scripts: [calls('users', 'servers'), { text: ['done'] }] })
    worlds.push(world)
    const { id } = await world.useCases['sessions.create'](callOf({}, {}, { metadata: {} }, token(every)))
    const { stream } = await world.useCases['sessions.turns'](callOf({ session_id: id }, {}, { input: 'go', tools }))
    const waiting = (await collect(stream)).filter(({ event_type }) => event_type === 'turn.paused')
    const [user, server] = waiting.map(({ payload }) => String(payload.action_id))
    const tool_results = [{ action_id: server ?? '', output: 'made up' }]
    const body = { action_id: user ?? '', tool_results }
    const call = callOf({ session_id: id }, {}, body, token(every))
    expect(await outcome(world.useCases['sessions.approve'](call))).toBe('forbidden')
    for (const action of [user, server]) {
      const seen = await world.useCases['actions.get'](callOf({ action_id: action ?? '' }, {}, undefined))
      expect(seen.status).toBe('pending_approval')
    }
  })

  it('is named as the decider, and its output is what the model reads', async () => {
    const { world, approveBy, action_id } = await waitFor('pages')
    const events = await collect((await approveBy(token(run))).stream)
    expect(lastPayload(events, 'turn.resumed')).toMatchObject({ output: 'from the page', resolution: 'approved' })
    const seen = await world.useCases['actions.get'](callOf({ action_id }, {}, undefined))
    expect(seen).toMatchObject({ status: 'executed', resolved_by: 'ada' })
    expect(world.provider.requests.at(-1)?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'from the page' })
  })
})

describe('the event of a call that waits', () => {
  it.each([
    ['operators', {}],
    ['users', { approver: 'end_user' }],
    ['servers', { approver: 'end_user', run_by: 'caller' }],
    ['pages', { declared_by: 'page', run_by: 'caller' }],
  ])('of %s has %j', async (tool, marks) => {
    const { paused } = await waitFor(tool)
    const { reason: _r, action_id: _a, tool: _t, arguments: _args, ...rest } = paused
    expect(rest).toEqual(marks)
  })

  it('shows the complete arguments of a tool to the page that declared it, and to no other person', () => {
    const secret = { password: 'hunter2-hunter2' }
    const event = (marks: object) => ({ event_type: 'turn.paused', payload: { arguments: secret, ...marks } })
    const own = { run_by: 'caller', declared_by: 'page' }
    expect(shownPayload(event(own), 'page').arguments).toEqual(secret)
    expect(shownPayload(event(own), 'caller').arguments).toEqual(secret)
    for (const marks of [{ run_by: 'caller' }, { approver: 'end_user' }, {}])
      expect(shownPayload(event(marks), 'page').arguments).not.toEqual(secret)
    expect(shownPayload(event(own), 'person').arguments).not.toEqual(secret)
  })
})

describe('who decides about a tool', () => {
  const agentTools = [httpTool('pay', { approver: 'operator' }), httpTool('look', { approver: 'end_user' })]
  const agent = {
    ...{ model: null, system_prompt: null, temperature: null, max_tokens: null, pause_on_tool_calls: true },
    tools: agentTools,
  }
  const approvers = (plan: ReturnType<typeof planTurn>) =>
    Object.fromEntries(Object.entries(plan.tools).map(([name, tool]) => [name, tool.approver ?? tool.declared_by]))

  it('is what the tool says, unless the policy of the installation names it', () => {
    expect(approvers(planTurn({}, agent, 'm'))).toEqual({ pay: undefined, look: 'end_user' })
    const approval_policy = {
      ...{ default: 'require' as const, tools: {} },
      approvers: { pay: 'end_user' as const, look: 'operator' as const },
    }
    expect(approvers(planTurn({}, { ...agent, approval_policy }, 'm'))).toEqual({ pay: 'end_user', look: undefined })
  })

  it("is never what a browser's credential declares, even where it may replace tools of the agent", () => {
    const replaced = [
      { ...functionTool('pay', true), approver: 'end_user' as const },
      { type: 'web_search_preview' as const, needsApproval: true, approver: 'end_user' as const },
    ]
    const open = { ...agent, turn_overrides: ['tools'] }
    expect(approvers(planTurn({ tools: replaced, guarded: true }, open, 'm'))).toEqual({
      pay: 'page',
      look: 'end_user',
      web_search_preview: undefined,
    })
    expect(approvers(planTurn({ tools: replaced }, open, 'm'))).toMatchObject({ pay: 'end_user' })
  })

  it("is needed for the agent's tools also when a tool of the request is marked, unless the request says when to pause", () => {
    const gated = (request: Parameters<typeof planTurn>[0]) =>
      Object.entries(planTurn(request, agent, 'm').tools).flatMap(([name, tool]) => (tool.gated ? [name] : []))
    const tools = [functionTool('page', true), functionTool('free')]
    expect(gated({ tools })).toEqual(['pay', 'look', 'page'])
    expect(gated({ tools, pause_on_tool_calls: true })).toEqual(['page'])
    expect(gated({ tools: [functionTool('pay', false), functionTool('page', true)] })).toEqual(['look', 'page'])
  })

  it('is the operator for tools with the names of methods of objects', () => {
    const tool = { kind: 'http', gated: true, risk_level: 'low', policy: 'idempotent', expires_in_ms: 1 } as const
    const policy = { default: 'require', tools: {}, approvers: {} } as const
    const names = { constructor: tool, toString: tool }
    const decided = withDeciders(names, { own: [], agents: [], policy, guarded: true })
    expect(Object.values(decided)).toEqual([tool, tool])
  })
})
