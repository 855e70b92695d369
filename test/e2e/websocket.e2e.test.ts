import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionSocket } from '#specs/resources/sessions.ts'
import { noteCalled } from '../support/called-operations.ts'
import { answerTo } from './gateway/simulated-answer.ts'
import { counted, endsTurn, rise } from './stream-reader.ts'
import { gatedTurn, startToolServer, type ToolServer } from './tool-server.ts'
import { World } from './world.ts'

interface SocketFrame {
  readonly event: string
  readonly id?: number
  readonly data: ReturnType<typeof JSON.parse>
}

/** Node's WebSocket, with the frames that it received. */
class Socket {
  readonly frames: SocketFrame[] = []
  readonly opened: Promise<boolean>
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  readonly #waiting = new Set<() => void>()

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#socket = new WebSocket(url, { headers })
    this.#socket.onmessage = ({ data }) => {
      this.frames.push(JSON.parse(data))
      for (const read of [...this.#waiting]) read()
    }
    this.opened = new Promise((resolve) => {
      this.#socket.onopen = () => {
        noteCalled([sessionSocket.id])
        resolve(true)
      }
      this.#socket.onerror = () => resolve(false)
    })
    this.closed = new Promise((resolve) => {
      this.#socket.onclose = ({ code }) => resolve(code)
    })
  }

  send(frame: object | string): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  until(wanted: (frame: SocketFrame) => boolean, from = 0): Promise<SocketFrame> {
    return new Promise((resolve) => {
      const read = (): void => {
        const found = this.frames.slice(from).find(wanted)
        if (found !== undefined && this.#waiting.delete(read)) resolve(found)
      }
      this.#waiting.add(read)
      read()
    })
  }

  /** Sends a frame and resolves with the error that answers it. */
  async refused(frame: object | string): Promise<SocketFrame['data']> {
    const from = this.frames.length
    this.send(frame)
    return (await this.until(({ event }) => event === 'error', from)).data.error
  }

  close(): void {
    this.#socket.close()
  }
}

describe("a session's WebSocket", () => {
  let world: World
  let tool: ToolServer
  const open: Socket[] = []
  beforeAll(async () => {
    tool = await startToolServer()
    world = await World.start({ tools: [tool] })
  })
  afterAll(async () => {
    for (const socket of open) socket.close()
    await world.stop()
    await tool.close()
  })

  const connect = async (session: string, query = '', headers: Record<string, string> = {}): Promise<Socket> => {
    const socket = new Socket(`${world.url.replace('http', 'ws')}/v1/sessions/${session}/ws${query}`, headers)
    open.push(socket)
    expect(await socket.opened).toBe(true)
    return socket
  }

  const asServer = (session: string, query = '') =>
    connect(session, query, { authorization: `Bearer ${world.secretKey}` })

  const clientToken = async (user: string, permissions?: readonly string[]): Promise<string> => {
    const tenant = await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })
    const body = { tenant_id: tenant.body.id, external_user_id: user, permissions }
    return (await world.api.post('/v1/client-tokens', body)).body.token
  }

  const pausedOn = async (socket: Socket): Promise<string> => {
    socket.send({ type: 'turn', ...gatedTurn(tool) })
    return (await socket.until(({ event }) => event === 'turn.paused')).data.action_id
  }

  it('runs turns for a browser with a client token in its URL', async () => {
    const token = await clientToken('ada')
    const session = await world.as(token).createSession()
    const socket = await connect(session, `?token=${token}`)
    socket.send({ type: 'turn', input: 'hello over a socket' })
    expect(await socket.until(endsTurn)).toMatchObject({
      event: 'turn.completed',
      data: { output: 'You said: hello over a socket' },
    })
    expect(socket.frames.map(({ id }) => id)).toEqual(counted(socket.frames))
  })

  it('approves an action: the tool runs once and the turn continues', async () => {
    const socket = await asServer(await world.api.createSession())
    const action = await pausedOn(socket)
    const before = tool.calls.length
    socket.send({ type: 'approve', action_id: action })
    socket.send({ type: 'approve', action_id: action })
    expect(await socket.until(endsTurn)).toMatchObject({ event: 'turn.completed' })
    expect(await socket.until(({ event }) => event === 'error')).toMatchObject({
      data: { error: { code: 'action_already_resolved' } },
    })
    expect(tool.calls.length - before).toBe(1)
  })

  it('rejects an action: the tool does not run and the turn completes', async () => {
    const socket = await asServer(await world.api.createSession())
    const before = tool.calls.length
    socket.send({ type: 'reject', action_id: await pausedOn(socket) })
    expect(await socket.until(({ event }) => event === 'turn.resumed')).toMatchObject({
      data: { resolution: 'rejected' },
    })
    expect(await socket.until(endsTurn)).toMatchObject({ event: 'turn.completed' })
    expect(tool.calls.length).toBe(before)
  })

  it('cancels a running turn', async () => {
    const socket = await asServer(await world.api.createSession())
    socket.send({ type: 'turn', input: 'slow please' })
    await socket.until(({ event }) => event === 'response.output_text.delta')
    socket.send({ type: 'cancel' })
    expect(await socket.until(endsTurn)).toMatchObject({ data: { error: { code: 'cancelled' } } })
  })

  it('resumes after any event, also on another connection', async () => {
    const session = await world.api.createSession()
    const first = await asServer(session)
    first.send({ type: 'turn', input: 'one two three four five' })
    await first.until(endsTurn)
    first.close()
    const second = await asServer(session)
    second.send({ type: 'resume', after: 1 })
    await second.until(endsTurn)
    expect(second.frames).toEqual(first.frames.slice(1))
  })

  it('resumes after kill -9, with the text of one attempt', async () => {
    const session = await world.api.createSession()
    const first = await asServer(session)
    first.send({ type: 'turn', input: 'slow please' })
    await first.until(({ id }) => id === 3)
    await world.crash()
    await first.closed
    await world.restart()
    const second = await asServer(session)
    second.send({ type: 'resume', after: first.frames.length })
    const end = await second.until(endsTurn)
    expect(rise([...first.frames, ...second.frames].map(({ id }) => Number(id)))).toBe(true)
    expect(second.frames).toEqual([end])
    expect(end).toMatchObject({ event: 'turn.completed', data: { output: answerTo('slow please') } })
    const aware = await asServer(session, '?restarts=true')
    aware.send({ type: 'resume', after: first.frames.length })
    await aware.until(endsTurn)
    expect(aware.frames[0]).toMatchObject({ event: 'turn.restarted', data: { from_sequence: 2, attempt: 2 } })
    expect(
      aware.frames
        .slice(1, -1)
        .map(({ data }) => data.delta)
        .join(''),
    ).toBe(answerTo('slow please'))
  })

  it('refuses frames that are invalid or that its credential does not permit, and stays open', async () => {
    const token = await clientToken('ada')
    const session = await world.as(token).createSession()
    const socket = await connect(session, `?token=${token}`)
    const refund = { type: 'function', needsApproval: true, function: { name: 'refund' } }
    socket.send({ type: 'turn', input: 'Please use the refund tool for order 7', tools: [refund] })
    const action = (await socket.until(({ event }) => event === 'turn.paused')).data.action_id
    expect(await socket.refused({ type: 'approve', action_id: action })).toMatchObject({ code: 'secret_key_required' })
    expect(await socket.refused({ type: 'reject', action_id: action })).toMatchObject({ code: 'secret_key_required' })
    expect(await socket.refused('{')).toMatchObject({ code: 'malformed_json' })
    expect(await socket.refused({ type: 'turn', inputs: '?' })).toMatchObject({
      code: 'unknown_field',
      param: 'inputs',
    })
    expect(await socket.refused({ type: 'turn', input: '?' })).toMatchObject({ code: 'approval_pending' })
    socket.send({ type: 'cancel' })
    await socket.until(endsTurn)
  })

  it('is not opened for a wrong credential, another user or a token without permissions', async () => {
    const token = await clientToken('ada')
    const mine = await world.as(token).createSession()
    const path = `${world.url.replace('http', 'ws')}/v1/sessions/${mine}/ws`
    const foreign = await clientToken('eve')
    const scopeless = await clientToken('ada', [])
    for (const query of [
      '',
      '?token=ect_wrong',
      `?token=${world.secretKey}`,
      `?token=${foreign}`,
      `?token=${scopeless}`,
    ]) {
      expect(await new Socket(`${path}${query}`).opened, query).toBe(false)
    }
  })
})
