import { beforeAll, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { type CallerKind, speakersOf } from '#specs/field-access.ts'
import { type SubjectPlace, subjectPlaces } from '#specs/reach/subject-places.ts'
import { reach, type Subject } from '#specs/reach/subjects.ts'
import { takesForms } from '#test/specs/sample-form.ts'
import type { Api } from '../api.ts'
import { failuresOf } from './cases.ts'
import { bodyFor } from './declared-places.ts'
import type { Estate } from './estate.ts'
import { pathOf, seen } from './requests.ts'
import type { Swept } from './sweep.ts'

/*
 * The matrix of specs/reach/subjects.ts against a running server: every credential that does not reach the whole project × every
 * operation that it may call × every field that names a subject. What it may not name is refused in the same way as what does
 * not exist. Ids of another project with unlimited credentials are tested by isolation-suite.ts and foreign-ids-suite.ts.
 */

const declared: readonly Operation[] = Object.values(operations)
const limited = ['agent_secret_key', 'agent_public_key', 'client_token'] as const
type Limited = (typeof limited)[number]

/** The body with which each opens a session of its agent. */
const newSession: Readonly<Record<Limited, (own: Estate) => object>> = {
  agent_secret_key: ({ tenant }) => ({ tenant_id: tenant, external_user_id: 'ada' }),
  agent_public_key: () => ({}),
  client_token: ({ populated }) => ({ agent_id: populated.agent }),
}

/** One request of the matrix. */
interface Cell {
  readonly operation: Operation
  readonly place: SubjectPlace
}

const cellsOf = (caller: CallerKind): readonly Cell[] =>
  declared
    .filter((operation) => !operation.access.kinds.includes('public') && speakersOf(operation.access).includes(caller))
    .flatMap((operation) => subjectPlaces(operation).map((place) => ({ operation, place })))
    .filter(({ operation, place }) => reach[caller][place.subject] !== 'any' && !isLabel(operation, place))

/** A user that only labels a request: it selects no data unless the request uses memory, which is a cell of its own. */
const isLabel = ({ attributed }: Operation, { part, subject, name }: SubjectPlace): boolean =>
  attributed && subject === 'user' && (part === 'header' || !name.startsWith('memory.'))

/** Fields beside the tested one without which a request is malformed. */
const beside: Readonly<Record<string, object>> = {
  'ai_chat.create': { messages: [{ role: 'user', content: 'Hello' }] },
  'chat_completions.create': { messages: [{ role: 'user', content: 'Hello' }] },
  'messages.create': { messages: [{ role: 'user', content: 'Hello' }] },
  // required beside a previous response: only a prompt can name another
  'responses.create': { model: 'simulated-1' },
  'sessions.turns': { input: 'Hello' },
  'ag_ui.run': { threadId: '0b0e4b6e-4f7c-4b0e-9a39-0f4b2f6a7c11', runId: 'r1', messages: [] },
  'ui_messages.send': { messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
}

/** Objects whose other fields are required, by the path of the object, or of the field where that decides. */
const around: Readonly<Record<string, object>> = {
  tools: { type: 'mcp' },
  tool_results: { output: 'done' },
  resume: { status: 'resolved' },
  subject: { type: 'tenant' },
  'subject.subject_id': { subject_type: 'tenant' },
  thread: { type: 'continue' },
}

/** Names a subject at its place in a body: `memory.extract.model`, `tools[].server_id`. */
const setAt = (body: object, name: string, value: string): object => {
  const [step = '', ...rest] = name.split('.')
  const field = step.replace('[]', '')
  const inner =
    rest.length === 0
      ? value
      : setAt(around[`${field}.${rest.join('.')}`] ?? around[field] ?? {}, rest.join('.'), value)
  return { ...body, [field]: step === field ? inner : [inner] }
}

/** Tests that no credential names what it does not reach. */
export const reaches = (swept: () => Swept): void => {
  let callers: Readonly<Record<Limited, { readonly api: Api; readonly own: Estate }>>
  let foreign: Readonly<Record<Subject, (name: string) => string>>

  beforeAll(async () => {
    const { world, mine } = swept()
    const { acme, globex } = mine
    const { agent, token } = acme.populated
    const keyOf = async (key_type: string): Promise<Api> =>
      world.as((await world.api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type })).body.key)
    const inSession = async (api: Api, caller: Limited): Promise<Estate> => {
      const { body: session } = await api.post('/v1/sessions', newSession[caller](acme))
      return acme.with({ session_id: session.id, agent_id: agent, run_id: acme.populated.runs[0] ?? '' })
    }
    const [secret, open, client] = [await keyOf('secret'), await keyOf('public'), world.as(token)]
    callers = {
      agent_secret_key: { api: secret, own: await inSession(secret, 'agent_secret_key') },
      agent_public_key: { api: open, own: await inSession(open, 'agent_public_key') },
      client_token: { api: client, own: await inSession(client, 'client_token') },
    }
    const other = (name: string) => globex.idOr(name.split('.').at(-1)?.replace('[]', '') ?? '')
    // the agent of the other tenant is one that it has alone
    await world.api.post(`/v1/agents/${globex.populated.agent}`, { visibility: 'private' }, { method: 'PATCH' })
    foreign = {
      tenant: () => globex.tenant,
      user: () => 'bob',
      agent: () => globex.populated.agent,
      installation: () => globex.populated.installation,
      session: () => globex.populated.sessions[0] ?? '',
      run: () => globex.populated.runs[0] ?? '',
      action: () => globex.populated.action,
      model: () => 'gpt-4o-mini',
      tool_server: () => acme.idOr('server_id'),
      knowledge_base: () => globex.idOr('knowledge_base_id'),
      conversation: other,
      resource: other,
      project: () => swept().theirs.project,
    }
  }, 240_000)

  /** The ids that a request names beside the tested one: each turn has a session of its own, since turns exclude each other. */
  const ownOf = async (caller: Limited, { id }: Operation): Promise<Estate> => {
    const { api, own } = callers[caller]
    if (id !== 'sessions.turns' && id !== 'ui_messages.send') return own
    const { status, body } = await api.post('/v1/sessions', newSession[caller](own))
    expect(status).toBe(201)
    return own.with({ session_id: body.id })
  }

  const answerTo = async (caller: Limited, { operation, place }: Cell, value: string) => {
    const { api } = callers[caller]
    const own = await ownOf(caller, operation)
    const { part, name, subject } = place
    const path = pathOf(operation, (each) => (part === 'path' && each === name ? value : own.idOr(each)))
    const query = part === 'query' ? `?${name}=${encodeURIComponent(value)}` : ''
    const sample = operation.body === null ? undefined : bodyFor(operation, null, (each) => own.idOr(each))
    const ofUser = caller === 'agent_secret_key' && operation.id === 'runs.create' && name.startsWith('memory.')
    const owner = ofUser ? { tenant_id: own.populated.tenant, external_user_id: 'ada' } : {}
    const plain = sample && { ...sample, ...beside[operation.id], ...owner }
    const memory = operation.attributed && subject === 'user' ? { memory: { userId: 'bob' } } : {}
    const body = part === 'body' ? setAt({ ...plain, ...memory }, name, value) : plain
    const headers = part === 'header' ? { [name.toLowerCase()]: value } : {}
    return seen(api, operation, { path: `${path}${query}`, body: takesForms(operation) ? undefined : body, headers })
  }

  it.each(limited)('%s names nothing that it does not reach', async (caller) => {
    const { globex } = swept().mine
    const check = async (cell: Cell): Promise<void> => {
      const { operation, place } = cell
      const value = foreign[place.subject](place.name)
      const answer = await answerTo(caller, cell, value)
      const signs = globex.signs.filter((sign) => sign !== value && answer.text.includes(sign))
      expect(signs, 'shows data of another owner').toEqual([])
      const hasNoEffect =
        (place.part === 'header' && reach[caller][place.subject] === 'none') ||
        // the memory of a turn or run is that of its own session
        (place.name === 'memory.sessionId' && !operation.attributed)
      const isFilter = place.part === 'query' || (place.part === 'header' && operation.method === 'GET')
      if (hasNoEffect || (isFilter && answer.status < 500)) return
      // the memory of a turn or run is that of its user, as with every credential
      if (place.name === 'memory.userId' && answer.status === 422) return
      if (place.name === 'tool_results[].action_id' && answer.status === 422) return
      expect([403, 404], answer.text).toContain(answer.status)
    }
    const cases = cellsOf(caller)
      .filter(({ operation }) => !takesForms(operation))
      .map((cell) => ({
        title: `${caller} ${cell.operation.id} ${cell.place.part} ${cell.place.name}`,
        check: () => check(cell),
      }))
    expect(await failuresOf(cases)).toEqual([])
    expect(cases.length).toBeGreaterThan(caller === 'agent_secret_key' ? 60 : 10)
  })

  it('an agent’s secret key cannot distinguish a tenant without an installation from one that does not exist', async () => {
    const cells = cellsOf('agent_secret_key').filter(
      ({ place, operation }) => place.subject === 'tenant' && !takesForms(operation),
    )
    const check = async (cell: Cell): Promise<void> => {
      const unknown = await answerTo('agent_secret_key', cell, `ten_${'0'.repeat(26)}`)
      for (const tenant of [swept().mine.globex.tenant, swept().theirs.acme.tenant]) {
        const { status, code } = await answerTo('agent_secret_key', cell, tenant)
        expect([status, code]).toEqual([unknown.status, unknown.code])
      }
    }
    const cases = cells.map((cell) => ({ title: cell.operation.id, check: () => check(cell) }))
    expect(await failuresOf(cases)).toEqual([])
    expect(cases.length).toBeGreaterThan(20)
  })

  it('an agent’s secret key names its own tenant, installation, agent and model', async () => {
    const { api, own } = callers.agent_secret_key
    const { agent, installation, tenant } = own.populated
    const model = 'simulated-1'
    const messages = [{ role: 'user', content: 'Hello' }]
    const inTenant = { 'x-tenant-id': tenant, 'x-external-user-id': 'ada' }
    const accepted = [
      await api.post('/v1/sessions', { agent_id: agent, installation_id: installation, external_user_id: 'ada' }),
      await api.post('/v1/sessions', { tenant_id: tenant, external_user_id: 'ada' }),
      await api.post(`/v1/agents/${agent}/runs`, { tenant_id: tenant, input: { prompt: 'Hello' } }),
      await api.post('/v1/chat/completions', { model, messages, memory: true }, { headers: inTenant }),
      await api.post('/v1/responses', { model, input: 'Hello' }, { headers: { 'x-tenant-id': tenant } }),
      await api.get(`/v1/sessions?tenant_id=${tenant}`),
    ]
    expect(accepted.map(({ status }) => status)).toEqual([201, 201, 202, 200, 200, 200])
  })
}
