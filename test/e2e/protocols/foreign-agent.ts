import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentCard, Message, Part, Task } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server'

/** An agent of the protocol's official server. What it does is the first word of its task. */
export interface ForeignAgent {
  readonly url: string
  readonly host: string
  /** Ids of the messages that it received, and methods that were called. */
  readonly messages: string[]
  readonly methods: string[]
  readonly headers: (string | undefined)[]
  /** Tasks that were cancelled. */
  readonly cancelled: string[]
  /** Changes of its card, and how its endpoint responds instead of the agent. */
  card: Partial<AgentCard>
  instead: 'garbage' | 'redirect' | 'refuses' | null
  /** Completes the tasks that it holds. */
  finish(): void
  close(): Promise<void>
}

const nothing = { metadata: undefined, filename: '', mediaType: '' } as const
const textPart = (value: string): Part => ({ content: { $case: 'text', value }, ...nothing })
const states = { working: 2, completed: 3, failed: 4, canceled: 5, input: 6 } as const

export const startForeignAgent = async (): Promise<ForeignAgent> => {
  const held = new Set<() => void>()
  const messages: string[] = []
  const methods: string[] = []
  const headers: (string | undefined)[] = []
  const cancelled: string[] = []
  const served: Pick<ForeignAgent, 'card' | 'instead'> = { card: {}, instead: null }

  const execute = async ({ taskId: id, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus) => {
    messages.push(userMessage.messageId)
    const words = userMessage.parts.map(({ content }) => String(content?.value)).join(' ')
    const message = (text: string): Message => ({
      ...{ messageId: crypto.randomUUID(), contextId, taskId: id, role: 2, parts: [textPart(text)] },
      ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    })
    const status = (state: number, text?: string) => ({
      ...{ state, timestamp: new Date().toISOString() },
      message: text === undefined ? undefined : message(text),
    })
    const begun: Task = {
      ...{ id, contextId, status: status(states.working), artifacts: [], history: [userMessage], metadata: undefined },
    }
    const update = (state: number, text?: string) =>
      bus.publish(AgentEvent.statusUpdate({ taskId: id, contextId, status: status(state, text), metadata: undefined }))
    const produce = (artifactId: string, parts: Part[]) => {
      const artifact = { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] }
      const about = { taskId: id, contextId, artifact, append: false, lastChunk: true, metadata: undefined }
      bus.publish(AgentEvent.artifactUpdate(about))
    }
    const [verb] = words.split(' ')
    if (verb === 'reply') bus.publish(AgentEvent.message(message(`Replied to ${words}.`)))
    else {
      bus.publish(AgentEvent.task(task ?? begun))
      if (task !== undefined) {
        produce('answer', [textPart(`Got the answer ${words}.`)])
        update(states.completed)
      } else if (verb === 'question') update(states.input, 'Which colour?')
      else if (verb === 'fail') update(states.failed, 'No such place.')
      else if (verb === 'values')
        produce(
          'v',
          Array.from({ length: 30_000 }, () => textPart('')),
        )
      else if (verb === 'flood') for (let at = 0; at < 10; at++) produce(`a${at}`, [textPart('x'.repeat(1_000_000))])
      else if (verb === 'hold') {
        update(states.working, 'Half way.')
        const { promise, resolve } = Promise.withResolvers<void>()
        held.add(resolve)
        await promise
        produce('held', [textPart('Held and done.')])
        update(states.completed)
      } else {
        const file: Part = {
          ...{ content: { $case: 'raw', value: Buffer.alloc(2000) }, metadata: undefined },
          ...{ filename: 'map.png', mediaType: 'image/png' },
        }
        produce('out', [
          textPart(`Did ${words}.`),
          { content: { $case: 'data', value: { degrees: 21 } }, ...nothing },
          file,
        ])
        update(states.completed)
      }
    }
    bus.finished()
  }
  const cancelTask = async (id: string, bus: ExecutionEventBus) => {
    cancelled.push(id)
    const status = { state: states.canceled, message: undefined, timestamp: new Date().toISOString() }
    bus.publish(AgentEvent.statusUpdate({ taskId: id, contextId: '', status, metadata: undefined }))
    bus.finished()
  }

  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end(JSON.stringify(cardNow()))
    if (served.instead === 'garbage')
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"a":[1,2\n\n')
    if (served.instead === 'refuses') return void response.writeHead(401).end()
    if (served.instead === 'redirect')
      return void response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end()
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString())
    methods.push(body.method)
    headers.push(request.headers.authorization)
    const answer = await handler.handle(body, new ServerCallContext({ requestedVersion: '1.0' }))
    if (!(Symbol.asyncIterator in answer))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    // read to its end, also when the client has gone: the server of the protocol stores what is read
    for await (const each of answer) response.write(`data: ${JSON.stringify(each)}\n\n`)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: AddressInfo = Object(server.address())
  const base = `http://127.0.0.1:${port}`
  const cardNow = (): AgentCard => ({
    ...{ name: 'Weather', description: 'Knows the weather.', version: '3', provider: undefined, signatures: [] },
    supportedInterfaces: [{ url: `${base}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    ...{ securitySchemes: {}, securityRequirements: [], defaultInputModes: [], defaultOutputModes: [] },
    skills: [],
    ...served.card,
  })
  const handler = new JsonRpcTransportHandler(
    new DefaultRequestHandler(cardNow(), new InMemoryTaskStore(), { execute, cancelTask }),
  )
  return Object.assign(served, {
    ...{ url: `${base}/.well-known/agent-card.json`, host: `127.0.0.1:${port}`, messages, methods, headers, cancelled },
    finish: () => {
      for (const end of held) end()
      held.clear()
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}
