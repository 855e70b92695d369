import { afterEach, expect, it, vi } from 'vitest'
import { pageFunctions, Troupe } from '#client/index.ts'
import type { CallStore } from '#client/page.ts'

afterEach(() => vi.unstubAllGlobals())

const call = { tool: 'add', arguments: { a: 2 }, action_id: `act_${crypto.randomUUID()}`, run_by: 'caller' }

/** A server whose log a test writes, and which answers approvals as the test says. */
const written = (approve: (attempt: number) => Response) => {
  const approvals: unknown[] = []
  const writers: ((frame: string) => void)[] = []
  const send: typeof fetch = (input, init) => {
    if (String(input).includes('/approve')) {
      approvals.push(JSON.parse(String(init?.body)))
      return Promise.resolve(approve(approvals.length))
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void writers.push((frame) => controller.enqueue(new TextEncoder().encode(frame))),
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
  let id = 0
  const log = (event: string, data: object) => {
    for (const write of writers) write(`event: ${event}\nid: ${++id}\ndata: ${JSON.stringify(data)}\n\n`)
  }
  return { approvals, log, troupe: new Troupe({ baseUrl: 'http://test', key: 'test', fetch: send }), writers }
}

it('an output that the server did not take is sent again with the next event, without a second run', async () => {
  let runs = 0
  const functions = pageFunctions({ add: { run: ({ a }: { a: number }) => a + ++runs } })
  const refused = { error: { type: 'permission_error', code: 'insufficient_scope', message: 'No.' } }
  const server = written((attempt) => (attempt === 1 ? Response.json(refused, { status: 403 }) : Response.json({})))
  const session = server.troupe.sessions.open('ses_1', { functions })
  const stop = session.subscribe(() => {})
  await expect.poll(() => server.writers).toHaveLength(1)
  server.log('turn.started', { turn_number: 1, model: 'm', input_text: 'add' })
  server.log('tool_call.started', call)
  server.log('turn.paused', { reason: 'approval_required', ...call })
  await expect.poll(() => session.getSnapshot().error?.code).toBe('insufficient_scope')
  expect(server.approvals).toHaveLength(1)
  server.log('tool_call.progress', { ...call, progress: 1, total: null, message: null })
  await expect.poll(() => server.approvals).toHaveLength(2)
  expect(server.approvals[1]).toEqual({
    action_id: call.action_id,
    tool_results: [{ action_id: call.action_id, output: '3' }],
  })
  expect(runs).toBe(1)
  stop()
})

it('notes of calls that are older than two weeks are removed when another call runs', async () => {
  const notes = new Map<string, Response>()
  const nameOf = (key: Request | string) => (typeof key === 'string' ? key : new URL(key.url).pathname)
  const store: CallStore = {
    keys: async () => [...notes.keys()].map((name) => new Request(`http://test${name}`)),
    match: async (key) => notes.get(nameOf(key))?.clone(),
    put: async (key, value) => void notes.set(key, value),
    delete: async (key) => notes.delete(nameOf(key)),
  }
  vi.stubGlobal('caches', { open: async () => store })
  const noteOf = (days: number) =>
    new Response('output:3', { headers: { at: `${Date.now() - days * 24 * 60 * 60 * 1000}` } })
  notes.set('/troupe:call:act_old', noteOf(15))
  notes.set('/troupe:call:act_older_release', new Response('output:3'))
  notes.set('/troupe:call:act_new', noteOf(8))
  const action = `act_${crypto.randomUUID()}`
  const server = written(() => Response.json({}))
  const session = server.troupe.sessions.open('ses_1', { functions: pageFunctions({ add: { run: () => 'done' } }) })
  const stop = session.subscribe(() => {})
  await expect.poll(() => server.writers).toHaveLength(1)
  server.log('turn.started', { turn_number: 1, model: 'm', input_text: 'add' })
  server.log('turn.paused', { reason: 'approval_required', ...call, action_id: action })
  await expect.poll(() => [...notes.keys()]).toEqual(['/troupe:call:act_new', `/troupe:call:${action}`])
  expect(await notes.get(`/troupe:call:${action}`)?.clone().text()).toBe('output:done')
  stop()
})
