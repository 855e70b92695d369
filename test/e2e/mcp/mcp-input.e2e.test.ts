import { acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { type InputServer, startInputServer } from './asking-server.ts'
import { type EverythingServer, startEverythingServer } from './everything-server.ts'
import { type NewEraServer, type ServedTool, said, startNewEraServer } from './new-era-server.ts'

type Seat = { seat: string }

const seats = { type: 'object' as const, properties: { seat: { type: 'string' as const } }, required: ['seat'] }

/** Requests input once, and returns its request state in the result. */
const book: ServedTool = {
  name: 'book',
  description: 'Books a seat.',
  properties: { flight: { type: 'string' } },
  run: ({ flight }, { mcpReq }) => {
    const responses = mcpReq.inputResponses
    const seat = acceptedContent<Seat>(responses, 'seat')
    if (seat !== undefined) return said(`${String(flight)}: ${seat.seat}, ${String(mcpReq.requestState())}.`)
    if (responses !== undefined) return said(`Not booked: ${JSON.stringify(responses)}`)
    return inputRequired({
      inputRequests: { seat: inputRequired.elicit({ message: 'Which seat do you want?', requestedSchema: seats }) },
      requestState: 'held-for-you',
    })
  },
}

const fieldOf = (name: string, message: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
  })

/** Requests two inputs at once, one of them a secret. */
const login: ServedTool = {
  name: 'login',
  description: 'Signs in.',
  run: (_given, { mcpReq }) => {
    const responses = mcpReq.inputResponses
    if (responses !== undefined) return said(`Signed in with ${JSON.stringify(responses)}`)
    const inputRequests = { who: fieldOf('user', 'Who are you?'), what: fieldOf('password', 'Your password, please.') }
    return inputRequired({ inputRequests })
  },
}

/** Requests input for ever. */
const nagging: ServedTool = {
  name: 'nag',
  description: 'Asks for ever.',
  run: () => inputRequired({ inputRequests: { more: fieldOf('more', 'More?') } }),
}

/** Requests a visit of a page. */
const visit: ServedTool = {
  name: 'visit',
  description: 'Needs a visit.',
  properties: { url: { type: 'string' } },
  run: ({ url }, { mcpReq }) =>
    mcpReq.inputResponses === undefined
      ? inputRequired({
          inputRequests: { page: inputRequired.elicitUrl({ message: 'Agree there.', url: String(url) }) },
        })
      : said(`Visited: ${JSON.stringify(mcpReq.inputResponses)}`),
}

describe('a server that requests input from a person', () => {
  let world: World
  let ours: NewEraServer
  let inputServer: InputServer
  let everything: EverythingServer
  let agent: string

  beforeAll(async () => {
    ours = await startNewEraServer([book, login, nagging, visit])
    inputServer = await startInputServer()
    everything = await startEverythingServer()
    world = await World.start({ tools: [ours, inputServer, everything] })
    const servers = [
      { name: 'Ours', url: ours.url },
      { name: 'Asking', url: inputServer.url },
      { name: 'All', url: everything.url },
    ]
    const mcp_servers: object[] = []
    for (const server of servers) {
      const server_id = (await world.api.post('/v1/mcp/servers', { ...server, trust: true })).body.id
      const tools = server.name === 'All' ? { tools: ['trigger-elicitation-request'] } : {}
      mcp_servers.push({ server_id, require_approval: 'never', ...tools })
    }
    const config = { model: 'simulated-1', mcp_servers }
    agent = (await world.api.post('/v1/agents', { name: 'Agent', config })).body.id
    await world.api.post(`/v1/agents/${agent}/versions`, { version: '1.0.0', config })
  })
  afterAll(async () => {
    await world.stop()
    await ours.close()
    await inputServer.close()
    await everything.stop()
  })
  beforeEach(() => {
    ours.calls.length = 0
    inputServer.calls = 0
    inputServer.cancelled = 0
    inputServer.answers.length = 0
  })

  const logOf = async (session: string) => JSON.stringify(await world.api.log(session))

  /** Runs a turn until it pauses. @returns its session, its action and the pause event. */
  const paused = async (input: string, more: object = {}) => {
    const session = await world.api.createSession({ agent_id: agent, ...more })
    await (await world.api.turn(session, { input })).all()
    const { data } = (await world.api.get(`/v1/sessions/${session}/events`)).body
    const event = data.findLast(({ event_type }: { event_type: string }) => event_type === 'turn.paused')
    return { session, action: String(event?.payload.action_id), pause: event?.payload }
  }

  const actionOf = async (id: string) => (await world.api.get(`/v1/actions/${id}`)).body

  const answer = (id: string, content: object) => world.api.post(`/v1/actions/${id}/approve`, { content })

  const done = (session: string) =>
    vi.waitFor(async () => expect(await logOf(session)).toContain('turn.completed'), patience)

  it('pauses the turn with its name and question, and continues with the answer and its request state', async () => {
    const { session, action, pause } = await paused('Use Ours__book with flight: "KL1"')
    expect(pause).toMatchObject({
      reason: 'input_required',
      input: { server: 'Ours', server_url: ours.url, mode: 'form', message: 'Which seat do you want?' },
    })
    expect(await actionOf(action)).toMatchObject({
      status: 'awaiting_input',
      input: { schema: { required: ['seat'] } },
    })
    expect(await logOf(session)).not.toContain('held-for-you')
    expect(JSON.stringify(await actionOf(action))).not.toContain('held-for-you')
    expect(await answer(action, { seat: '12A' })).toMatchObject({ status: 200 })
    await done(session)
    expect(await logOf(session)).toContain('KL1: 12A, held-for-you.')
  })

  it('receives only values that match its form', async () => {
    const { action } = await paused('Use Ours__book with flight: "KL3"')
    const params = async (content: object | undefined) => {
      const { status, body } = await world.api.post(`/v1/actions/${action}/approve`, { content })
      return [status, body.error.code, body.error.param]
    }
    expect(await params({})).toEqual([422, 'missing_field', 'content.seat'])
    expect(await params(undefined)).toEqual([422, 'missing_field', 'content.seat'])
    expect(await params({ seat: 12 })).toEqual([422, 'invalid_field', 'content.seat'])
    expect(await params({ seat: 'x', more: 1 })).toEqual([422, 'invalid_field', 'content.more'])
    expect(await actionOf(action)).toMatchObject({ status: 'awaiting_input' })
  })

  it.each([
    [{}, 'decline'],
    [{ response: 'cancel' }, 'cancel'],
  ])('receives a refusal with %j, and its result is sent to the model', async (body, action) => {
    const waiting = await paused('Use Ours__book with flight: "KL4"')
    await world.api.post(`/v1/actions/${waiting.action}/reject`, body)
    await done(waiting.session)
    const log = await logOf(waiting.session)
    expect(log).toContain('Not booked')
    expect(log).toContain(action)
  })

  it("is answered by a session's approve and refused by its reject, and the turn continues", async () => {
    const one = await paused('Use Ours__book with flight: "KL5"')
    const approve = { action_id: one.action, content: { seat: '1C' } }
    await world.api.post(`/v1/sessions/${one.session}/approve`, approve)
    await done(one.session)
    expect(await logOf(one.session)).toContain('KL5: 1C')
    const other = await paused('Use Ours__book with flight: "KL6"')
    const { body } = await world.api.post(`/v1/sessions/${other.session}/reject`, { action_id: other.action })
    expect(body).toMatchObject({ resolution: 'rejected', status: 'active' })
    await done(other.session)
  })

  it('has its questions put one after another, with fields that look like secrets marked', async () => {
    const { session, action } = await paused('Use Ours__login now')
    expect(await actionOf(action)).toMatchObject({ input: { message: 'Who are you?', secret_fields: [] } })
    await answer(action, { user: 'ada' })
    await vi.waitFor(async () => {
      const input = { message: 'Your password, please.', secret_fields: ['password'] }
      expect(await actionOf(action)).toMatchObject({ status: 'awaiting_input', input })
    }, patience)
    expect(ours.calls).toHaveLength(1)
    await world.api.post(`/v1/actions/${action}/reject`)
    await done(session)
    expect(await logOf(session)).toContain('decline')
    expect(ours.calls).toHaveLength(2)
  })

  it('is abandoned with too_many_questions after eight rounds', async () => {
    const { session, action } = await paused('Use Ours__nag now')
    for (let round = 1; round <= 8; round++) {
      await vi.waitFor(async () => expect(await actionOf(action)).toMatchObject({ status: 'awaiting_input' }), patience)
      expect(await answer(action, { more: `no ${round}` })).toMatchObject({ status: 200 })
    }
    await done(session)
    expect(await logOf(session)).toContain('too_many_questions')
  })

  it('can request the visit of an http link, and of no other URL', async () => {
    const { session, action } = await paused('Use Ours__visit with url: "https://agree.example/terms?id=1"')
    const input = { mode: 'url', url: 'https://agree.example/terms?id=1', schema: null }
    expect(await actionOf(action)).toMatchObject({ status: 'awaiting_input', input })
    expect(await answer(action, { x: 1 })).toMatchObject({ status: 422, body: { error: { param: 'content' } } })
    await world.api.post(`/v1/actions/${action}/approve`)
    await done(session)
    expect(await logOf(session)).toContain('accept')
    const bad = await paused('Use Ours__visit with url: "javascript:alert(1)"')
    expect(bad.pause).toBeUndefined()
    expect(await logOf(bad.session)).toContain('bad_answer')
  })

  it('of revision 2025-11-25 receives the answer on the connection of its only call', async () => {
    const { session, action } = await paused('Use Asking__book now')
    expect(await actionOf(action)).toMatchObject({ input: { server: 'Asking', message: 'Which seat do you want?' } })
    await answer(action, { seat: 'aisle' })
    await done(session)
    expect(await logOf(session)).toContain('Booked: accept')
    expect(inputServer).toMatchObject({ calls: 1, answers: [{ action: 'accept', content: { seat: 'aisle' } }] })
  })

  it('of that revision receives a cancel when the turn is cancelled', async () => {
    const { session, action } = await paused('Use Asking__book now')
    await world.api.post(`/v1/sessions/${session}/cancel`)
    await vi.waitFor(() => expect(inputServer.answers).toMatchObject([{ action: 'cancel' }]), patience)
    expect(await actionOf(action)).toMatchObject({ status: 'rejected' })
    expect(await answer(action, { seat: 'aisle' })).toMatchObject({ status: 409 })
  })

  it('receives answers to the form of the official "everything" server', async () => {
    const { session, action } = await paused('Use All__trigger-elicitation-request now')
    const { input } = await actionOf(action)
    expect(Object.keys(input.schema.properties).length).toBeGreaterThan(8)
    const content = { name: 'Ada', integer: 7, untitledMultipleSelectEnum: ['Piano'], titledSingleSelectEnum: 'hero-2' }
    expect(await answer(action, content)).toMatchObject({ status: 200 })
    await done(session)
    expect(await logOf(session)).toContain('Ada')
  })

  it('pauses a run, which continues with the answer', async () => {
    const run = (
      await world.api.post(`/v1/agents/${agent}/runs`, { input: { prompt: 'Use Ours__book with flight: "R1"' } })
    ).body
    const read = async () => (await world.api.get(`/v1/runs/${run.id}`)).body
    await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'requires_action' }), patience)
    const { data } = (await world.api.get(`/v1/runs/${run.id}/events`)).body
    const waits = data.find(({ event_type }: { event_type: string }) => event_type === 'run.requires_action').payload
    expect(waits).toMatchObject({ reason: 'input_required', input: { server: 'Ours' } })
    await answer(waits.action_id, { seat: '2D' })
    await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'completed' }), patience)
    const log = JSON.stringify((await world.api.get(`/v1/runs/${run.id}/events`)).body)
    expect(log).toContain('run.action.answered')
    expect(log).toContain('R1: 2D')
  })

  it('cannot be answered or seen by another project', async () => {
    const { action } = await paused('Use Ours__book with flight: "KL7"')
    const dashboard = await world.dashboard()
    const project = (await dashboard.post('/api/projects', { name: 'Other' })).body.id
    const other = world.as((await dashboard.post(`/api/projects/${project}/keys`, { name: 'server' })).body.key)
    expect(await other.get('/v1/actions')).toMatchObject({ status: 200, body: { data: [] } })
    for (const [path, body] of [
      [`/v1/actions/${action}/approve`, { content: { seat: '1' } }],
      [`/v1/actions/${action}/reject`, {}],
    ] as const)
      expect(await other.post(path, body)).toMatchObject({ status: 404 })
    expect(await other.get(`/v1/actions/${action}`)).toMatchObject({ status: 404 })
    expect(await actionOf(action)).toMatchObject({ status: 'awaiting_input' })
  })

  // one kill interrupts all that wait
  describe('after kill -9', () => {
    let ofOurs: Awaited<ReturnType<typeof paused>>
    let answered: typeof ofOurs
    let refused: typeof ofOurs

    beforeAll(async () => {
      ofOurs = await paused('Use Ours__book with flight: "KL2"')
      answered = await paused('Use Asking__book now')
      refused = await paused('Use Asking__book now')
      await world.crash()
      await world.restart()
    })

    it('receives its answer in a single call', async () => {
      await answer(ofOurs.action, { seat: '13B' })
      await done(ofOurs.session)
      expect(await logOf(ofOurs.session)).toContain('KL2: 13B, held-for-you.')
      expect(ours.calls).toHaveLength(1)
    })

    it('of revision 2025-11-25 is called again, and receives the answer when it repeats its question', async () => {
      await answer(answered.action, { seat: 'window' })
      await done(answered.session)
      expect(await logOf(answered.session)).toContain('Booked: accept')
      expect(inputServer).toMatchObject({ calls: 1, answers: [{ action: 'accept', content: { seat: 'window' } }] })
    })

    it('of that revision is not called again for a refusal', async () => {
      await world.api.post(`/v1/actions/${refused.action}/reject`)
      await done(refused.session)
      expect(await logOf(refused.session)).toContain('input_declined')
      expect(inputServer.calls).toBe(0)
    })
  })
})
