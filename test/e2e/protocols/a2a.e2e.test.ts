import { type Part, type Task, type TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhookHeaders } from '#outgoing/webhook-signature.ts'
import { type Delivered, Receiver } from '#test/actors/webhooks/receiver.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'

let world: World
let tool: ToolServer
let receiver: Receiver
const agents = { plain: '', gated: '' }
beforeAll(async () => {
  tool = await startToolServer()
  receiver = await Receiver.open()
  world = await World.start({ tools: [tool, receiver] })
  const agentOf = async (name: string, tools: readonly object[]): Promise<string> =>
    (
      await world.api.post('/v1/agents', {
        name,
        description: `Agent ${name}`,
        config: { model: 'simulated-1', tools },
      })
    ).body.id
  const refunds = {
    type: 'http',
    name: 'issue_refund',
    url: tool.url,
    needsApproval: true,
    parameters: { type: 'object' },
  }
  agents.plain = await agentOf('plain', [])
  agents.gated = await agentOf('gated', [refunds])
})
afterAll(async () => {
  await world.stop()
  await tool.close()
  await receiver.close()
})

type Binding = 'JSONRPC' | 'HTTP+JSON'
const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON']
const baseOf = (agent: string): string => `${world.url}/v1/agents/${agent}/a2a/`

/** A client of the SDK for an agent, which reads its card. */
const clientOf = (agent: string, binding: Binding, { key = world.secretKey, headers = {} } = {}): Promise<Client> => {
  const fetchImpl: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...init?.headers, ...headers, authorization: `Bearer ${key}` } })
  return new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(baseOf(agent), '.well-known/agent-card.json')
}

const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})
const dataPart = (value: unknown): Part => ({
  content: { $case: 'data', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})

interface Sent {
  readonly messageId?: string
  readonly taskId?: string
  readonly contextId?: string
  readonly returnImmediately?: boolean
  readonly push?: TaskPushNotificationConfig
}

const requestOf = (parts: Part[], { messageId = crypto.randomUUID(), ...sent }: Sent = {}) => ({
  tenant: '',
  message: {
    ...{ messageId, contextId: sent.contextId ?? '', taskId: sent.taskId ?? '', role: 1, parts },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  },
  configuration: {
    ...{ acceptedOutputModes: [], taskPushNotificationConfig: sent.push },
    returnImmediately: sent.returnImmediately ?? false,
  },
  metadata: undefined,
})

const taskIn = (result: object): Task => {
  if ('artifacts' in result) return Object(result)
  throw new Error(`no task: ${JSON.stringify(result)}`)
}
const partValue = ({ content }: Part): unknown => content?.value
const outputOf = ({ artifacts }: Task): unknown => artifacts.flatMap(({ parts }) => parts.map(partValue))
const stateOf = ({ status }: Task): TaskState | undefined => status?.state
const pushOf = (taskId = ''): TaskPushNotificationConfig => ({
  ...{ tenant: '', id: 'mine', taskId, url: `${receiver.url}/${taskId}`, token: 'push-token' },
  authentication: { scheme: 'Bearer', credentials: 'push-credentials' },
})
/** The states that were pushed about a task, once the last of them was. */
const pushedTo = async (state: string, from: number) => {
  for (let count = from + 1; ; count++) {
    const pushed = (await receiver.requests(count)).slice(from)
    if (pushed.some(({ body }) => JSON.parse(body).task.status.state === state)) return pushed
  }
}
const refund = 'Please use issue_refund for order 1042'
const collect = async <T>(stream: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const each of stream) all.push(each)
  return all
}

describe.each(bindings)('over %s', (binding) => {
  it('a message begins a task of the agent, whose card has its name', async () => {
    const client = await clientOf(agents.plain, binding)
    expect(await client.getAgentCard()).toMatchObject({ name: 'plain', description: 'Agent plain' })
    const task = taskIn(await client.sendMessage(requestOf([textPart('reply exactly: Hello there.')])))
    expect([stateOf(task), outputOf(task)]).toEqual([TaskState.TASK_STATE_COMPLETED, ['Hello there.']])
    const { body } = await world.api.get(`/v1/runs/${task.id}`)
    expect(body).toMatchObject({ status: 'completed', agent_id: agents.plain, output: { text: 'Hello there.' } })
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task)
  })

  it('the same message begins one task, and a context lists its tasks', async () => {
    const client = await clientOf(agents.plain, binding)
    const contextId = crypto.randomUUID()
    const request = requestOf([textPart('reply exactly: Once.')], { contextId })
    const [first, second] = [await client.sendMessage(request), await client.sendMessage(request)].map(taskIn)
    expect([second?.id, first?.contextId]).toEqual([first?.id, contextId])
    const all = { ...{ tenant: '', pageToken: '', status: 0, includeArtifacts: true }, statusTimestampAfter: undefined }
    const listed = await client.listTasks({ ...all, contextId })
    expect(listed.tasks.map(({ id }) => id)).toEqual([first?.id])
    const page = await client.listTasks({ ...all, contextId: '', pageSize: 1 })
    expect([page.tasks.length, page.nextPageToken]).toEqual([1, expect.stringMatching(/./)])
  })

  it('streams a task to its end, and a task that was begun before', async () => {
    const client = await clientOf(agents.plain, binding)
    const updates = await collect(client.sendMessageStream(requestOf([textPart('reply exactly: Streamed.')])))
    expect(updates.map(({ payload }) => payload?.$case)).toEqual(
      expect.arrayContaining(['task', 'statusUpdate', 'artifactUpdate']),
    )
    expect(updates[0]?.payload?.$case).toBe('task')
    expect(updates.at(-1)?.payload?.value).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } })
    const request = requestOf([textPart('slow please')], { returnImmediately: true })
    const begun = taskIn(await client.sendMessage(request))
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(stateOf(begun))
    const following = collect(client.resubscribeTask({ tenant: '', id: begun.id }))
    const cancelled = await client.cancelTask({ tenant: '', id: begun.id, metadata: undefined })
    expect(stateOf(cancelled)).toBe(TaskState.TASK_STATE_CANCELED)
    const followed = await following
    expect(followed[0]?.payload).toMatchObject({ $case: 'task', value: { id: begun.id } })
    expect(followed.at(-1)?.payload?.value).toMatchObject({ status: { state: TaskState.TASK_STATE_CANCELED } })
    await expect(client.cancelTask({ tenant: '', id: cancelled.id, metadata: undefined })).resolves.toMatchObject({
      status: { state: TaskState.TASK_STATE_CANCELED },
    })
  })

  it('a task waits for an approval, which a message brings, and the tool runs once', async () => {
    const client = await clientOf(agents.gated, binding)
    const before = tool.calls.length
    const task = taskIn(await client.sendMessage(requestOf([textPart(refund)])))
    expect([stateOf(task), tool.calls.length]).toEqual([TaskState.TASK_STATE_INPUT_REQUIRED, before])
    const [words, call] = (task.status?.message?.parts ?? []).map(partValue)
    expect([words, call]).toMatchObject([expect.stringContaining('issue_refund'), { reason: 'approval_required' }])
    const unclear = client.sendMessage(requestOf([textPart('perhaps')], { taskId: task.id }))
    await expect(unclear).rejects.toMatchObject({ reason: 'INVALID_PARAMS' })
    const done = taskIn(await client.sendMessage(requestOf([dataPart({ approved: true })], { taskId: task.id })))
    expect([stateOf(done), tool.calls.length]).toEqual([TaskState.TASK_STATE_COMPLETED, before + 1])
    const late = client.sendMessage(requestOf([dataPart({ approved: true })], { taskId: task.id }))
    await expect(late).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' })
    const streamed = await collect(client.sendMessageStream(requestOf([textPart(refund)])))
    expect(streamed.at(-1)?.payload?.value).toMatchObject({ status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } })
  })

  it('pushes the states of a task with the token of its config, signed by it, until the config is deleted', async () => {
    const client = await clientOf(agents.gated, binding)
    const from = receiver.received.length
    const task = taskIn(await client.sendMessage(requestOf([textPart(refund)], { push: pushOf() })))
    const pushed = await pushedTo('TASK_STATE_INPUT_REQUIRED', from)
    const [{ headers = {}, body = '' } = {}]: readonly Partial<Delivered>[] = pushed
    expect(headers).toMatchObject({
      'x-a2a-notification-token': 'push-token',
      authorization: 'Bearer push-credentials',
    })
    const sent = { id: String(headers['webhook-id']), timestampS: Number(headers['webhook-timestamp']), body }
    expect(headers).toMatchObject(webhookHeaders(Buffer.from('push-token').toString('base64'), sent))
    expect(JSON.parse(body).task).toMatchObject({ id: task.id, contextId: task.contextId })
    const other = { ...pushOf(task.id), id: 'other', token: '', authentication: undefined }
    expect(await client.createTaskPushNotificationConfig(other)).toMatchObject({ id: 'other', url: other.url })
    const place = { tenant: '', taskId: task.id, id: 'mine' }
    const { token, authentication } = await client.getTaskPushNotificationConfig(place)
    expect([token, authentication]).toEqual(['', { scheme: 'Bearer', credentials: '' }])
    await client.deleteTaskPushNotificationConfig(place)
    const listed = await client.listTaskPushNotificationConfig({ ...place, pageSize: 10, pageToken: '' })
    expect(listed.configs.map(({ id }) => id)).toEqual(['other'])
    await expect(client.getTaskPushNotificationConfig(place)).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
    const before = receiver.received.length
    await client.sendMessage(requestOf([dataPart({ approved: true })], { taskId: task.id }))
    const last = await pushedTo('TASK_STATE_COMPLETED', before)
    expect(last.map(({ path }) => path)).toEqual(last.map(() => `/hook/${task.id}`))
    expect(last.at(-1)?.headers).not.toHaveProperty('authorization')
    const { body: deliveries } = await world.api.get('/v1/webhook-deliveries?event_type=run.requires_action')
    const { body: delivery } = await world.api.get(`/v1/webhook-deliveries/${deliveries.data[0].id}`)
    expect(delivery).toMatchObject({ payload: { task: { id: task.id } }, attempts: [{ status_code: 204 }] })
    expect(JSON.stringify(delivery)).not.toMatch(/push-token|push-credentials/)
    const inward = client.createTaskPushNotificationConfig({ ...other, url: 'http://169.254.169.254/' })
    await expect(inward).rejects.toMatchObject({ reason: 'INVALID_PARAMS' })
  })

  it('hides tasks of other agents, tenants and projects, and answers errors of A2A', async () => {
    const client = await clientOf(agents.plain, binding)
    const other = await clientOf(agents.gated, binding)
    const task = taskIn(await client.sendMessage(requestOf([textPart('reply exactly: Mine.')])))
    const missing = { reason: 'TASK_NOT_FOUND' }
    await expect(other.getTask({ tenant: '', id: task.id })).rejects.toMatchObject(missing)
    const { body: tenant } = await world.api.post('/v1/tenants', { external_id: `t-${binding}`, name: 'T' })
    const tenants = await clientOf(agents.plain, binding, { headers: { 'x-tenant-id': tenant.id } })
    await expect(tenants.getTask({ tenant: '', id: task.id })).rejects.toMatchObject(missing)
    for (const id of ['run_01kb0000000000000000000000', '__proto__', 'x'])
      await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toMatchObject(missing)
    const answered = client.sendMessage(requestOf([textPart('yes')], { taskId: task.id }))
    await expect(answered).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' })
    await expect(client.sendMessage(requestOf([]))).rejects.toMatchObject({ reason: 'INVALID_PARAMS' })
    const file: Part = {
      content: { $case: 'url', value: 'http://x/' },
      metadata: undefined,
      filename: '',
      mediaType: '',
    }
    await expect(client.sendMessage(requestOf([file]))).rejects.toMatchObject({ reason: 'CONTENT_TYPE_NOT_SUPPORTED' })
    const { body: key } = await world.api.post(`/v1/agents/${agents.plain}/keys`, { name: 'k', key_type: 'secret' })
    const own = await clientOf(agents.plain, binding, { key: key.key })
    expect(stateOf(taskIn(await own.sendMessage(requestOf([textPart('hello')]))))).toBe(TaskState.TASK_STATE_COMPLETED)
    await expect(clientOf(agents.gated, binding, { key: key.key })).rejects.toThrow('404')
    await expect(clientOf(agents.plain, binding, { key: 'sk_none' })).rejects.toThrow('401')
    const hostCard = async (bearer: string) => {
      const answer = await world.as(bearer).get('/.well-known/agent-card.json')
      return [answer.status, answer.body.name ?? answer.body.error.message]
    }
    expect(await hostCard(key.key)).toEqual([200, 'plain'])
    expect(await hostCard(world.secretKey)).toEqual([404, expect.stringContaining('several agents')])
    expect(await hostCard('sk_none')).toEqual([401, expect.anything()])
  })
})

it('shows no card without a key, and does not say whether there is an agent', async () => {
  const path = (id: string) => `/v1/agents/${id}/a2a/.well-known/agent-card.json`
  const refusals = await Promise.all(
    ['/.well-known/agent-card.json', path(agents.plain), path('agt_01kb0000000000000000000000')].map(async (each) => {
      const answer = await fetch(`${world.url}${each}`)
      const body: { readonly error?: { readonly message?: string } } = Object(await answer.json())
      return { status: answer.status, challenge: answer.headers.get('www-authenticate'), why: body.error?.message }
    }),
  )
  expect(refusals[0]).toMatchObject({ status: 401, challenge: 'Bearer' })
  expect(refusals).toEqual([refusals[0], refusals[0], refusals[0]])
})

it('refuses hostile calls over JSON-RPC by its error codes, and parts of 10 MB', async () => {
  const call = async (body: unknown) => {
    const { status, body: answer } = await world.api.post(
      baseOf(agents.plain).replace(world.url, '').slice(0, -1),
      body,
    )
    return [status, answer.error?.code]
  }
  const rpc = (method: string, params?: object) => call({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) })
  expect(await rpc('Nothing')).toEqual([200, -32601])
  expect(await rpc('toString')).toEqual([200, -32601])
  expect(await rpc('GetTask', { id: {} })).toEqual([200, -32602])
  expect(await rpc('SendMessage')).toEqual([200, -32602])
  expect(await rpc('ListTasks', { status: 'x' })).toEqual([200, -32602])
  expect(await rpc('CreateTaskPushNotificationConfig', { url: 'http://169.254.169.254/' })).toEqual([200, -32602])
  expect(await call({ jsonrpc: '1.0', id: 1, method: 'GetTask' })).toEqual([400, -32602])
  expect(await call([])).toEqual([400, -32602])
  const message = (length: number) => ({
    messageId: `m${length}`,
    role: 'ROLE_USER',
    parts: [{ text: 'x'.repeat(length) }],
  })
  const configuration = { returnImmediately: true }
  expect(await rpc('SendMessage', { message: message(10_000_000), configuration })).toEqual([413, -32603])
  expect(await rpc('SendMessage', { message: message(900_000), configuration })).toEqual([200, undefined])
})

it('continues a task and its pushes over kill -9, and begins none again', async () => {
  const client = await clientOf(agents.plain, 'JSONRPC')
  const from = receiver.received.length
  receiver.reply = () => null
  const request = requestOf([textPart('slow please')], { returnImmediately: true, push: pushOf() })
  const begun = taskIn(await client.sendMessage(request))
  await receiver.requests(from + 1)
  // the counts of a killed process are lost
  await world.noteCalled()
  await world.crash()
  receiver.reply = () => ({ status: 204 })
  await world.restart()
  const again = await clientOf(agents.plain, 'JSONRPC')
  const task = taskIn(
    await again.sendMessage({ ...request, configuration: { ...request.configuration, returnImmediately: false } }),
  )
  expect([task.id, stateOf(task)]).toEqual([begun.id, TaskState.TASK_STATE_COMPLETED])
  const [first, ...later] = await pushedTo('TASK_STATE_COMPLETED', from)
  expect(later.map(({ headers }) => headers['webhook-id'])).toContain(first?.headers['webhook-id'])
})
