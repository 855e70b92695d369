import { describe, expect, it } from 'vitest'
import { counted, endsTurn, isDelta, isEvent, textOf } from './stream-reader.ts'
import { gatedTurn, startToolServer } from './tool-server.ts'
import { drawnStores, type StoreName, World } from './world.ts'

type AtEnd = (end: () => Promise<void>) => void

const start = async (store: StoreName, atEnd: AtEnd, env: Readonly<Record<string, string>> = {}) => {
  const tool = await startToolServer()
  const world = await World.start({ store, tools: [tool], env, ownProcess: true })
  atEnd(async () => {
    await world.stop()
    await tool.close()
  })
  return { world, tool, terminate: () => process.kill(world.server.pid, 'SIGTERM') }
}

/** Opens a session's socket. `closed` resolves with the close code of the server. */
const openSocket = async (url: string, key: string): Promise<{ readonly closed: Promise<number> }> => {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } })
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code)
  })
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error('no socket'))
  })
  return { closed }
}

// concurrent: processes that shut down spend their time waiting
describe.concurrent('SIGTERM', { timeout: 180_000 }, () => {
  it.for(drawnStores)(
    'on $store waits for running model and tool calls, refuses new work with 503, and exits with code 0',
    async ({ store }, { onTestFinished }) => {
      const { world, tool, terminate } = await start(store, onTestFinished)
      const idle = await world.api.createSession()
      const idler = await world.api.follow(idle, '0')
      const socketAt = `${world.server.url.replace('http', 'ws')}/v1/sessions/${idle}/ws`
      const socket = await openSocket(socketAt, world.secretKey)
      const waiting = await world.api.createSession()
      const waits = await (await world.api.turn(waiting, gatedTurn(tool))).until(isEvent('turn.paused'))
      const calling = await world.api.createSession()
      const call = await (await world.api.turn(calling, gatedTurn(tool))).until(isEvent('turn.paused'))
      tool.hold()
      const answered = await world.api.approve(calling, call.data.action_id)
      await tool.called(1)
      // for the next six seconds the process has a turn to finish
      const slow = await world.api.turn(await world.api.createSession(), { input: 'slow please' })
      await slow.until(isDelta)
      terminate()

      expect(await idler.ended, 'a client that only follows is sent elsewhere').toBe('broken')
      expect(await socket.closed, 'so is one with a socket').toBe(1012)
      expect((await world.api.get('/readyz')).status).toBe(503)
      const stream = await world.api.get(`/v1/sessions/${idle}/stream`)
      expect(stream).toMatchObject({ status: 503, body: { error: { code: 'shutting_down' } } })
      expect(Number(stream.headers.get('retry-after'))).toBeGreaterThan(0)
      await expect(openSocket(socketAt, world.secretKey), 'no socket is opened any more').rejects.toThrow('no socket')
      expect((await world.api.get('/healthz')).status).toBe(200)
      for (const path of [`/v1/sessions/${idle}/turns`, '/v1/sessions']) {
        const refused = await world.api.post(path, path.endsWith('turns') ? { input: 'hello' } : {})
        expect(refused).toMatchObject({ status: 503, body: { error: { code: 'shutting_down' } } })
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      tool.answer()
      await answered.until(isEvent('tool_call.completed'))
      const frames = await slow.all()
      expect(frames.at(-1)).toMatchObject({ event: 'turn.completed', data: { output: textOf(frames) } })
      expect(await world.server.exited).toBe(0)

      await world.restart()
      expect((await world.api.get(`/v1/sessions/${waiting}`)).body.status).toBe('paused')
      const resumed = await world.api.approve(waiting, waits.data.action_id)
      expect((await resumed.all()).at(-1)?.event).toBe('turn.completed')
      const follower = await world.api.follow(calling, '0')
      expect((await follower.until(endsTurn)).event, 'the turn of the tool goes on').toBe('turn.completed')
      follower.stop()
      const { data } = follower.frames.find(isEvent('tool_call.completed')) ?? {}
      expect(data?.output, 'its answer was taken').toContain('receipt')
      expect(tool.calls, 'it is not called again').toHaveLength(2)
    },
  )

  it('leaves a turn that exceeds the grace period to the next start, which completes it without gaps', async ({
    onTestFinished,
  }) => {
    const { world, tool, terminate } = await start('sqlite', onTestFinished, { SHUTDOWN_GRACE_S: '3' })
    const session = await world.api.createSession()
    const waits = await (await world.api.turn(session, gatedTurn(tool, { effect: 'idempotent' }))).until(
      isEvent('turn.paused'),
    )
    tool.hold()
    const resumed = await world.api.approve(session, waits.data.action_id)
    await tool.called(1)
    terminate()
    expect(await world.server.exited).toBe(0)
    await resumed.ended
    tool.answer()
    await world.restart()
    const follower = await world.api.follow(session, '0')
    expect((await follower.until(endsTurn)).event).toBe('turn.completed')
    follower.stop()
    expect(follower.frames.map(({ id }) => Number(id))).toEqual(counted(follower.frames))
    expect(new Set(tool.calls.map(({ key }) => key)).size).toBe(1)
  })
})
