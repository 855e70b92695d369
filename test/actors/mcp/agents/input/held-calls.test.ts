import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnsweredInput, ToolOutcome } from '#actors/capability/agent-resources.ts'
import { callWithInput } from '#actors/mcp/agents/input/call-with-input.ts'
import { HeldCalls } from '#actors/mcp/agents/input/held-calls.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { type InputServer, startInputServer } from '#test/e2e/mcp/asking-server.ts'

let server: InputServer
let guard: ReturnType<typeof openSsrfGuard>
let held: HeldCalls

beforeEach(async () => {
  server = await startInputServer()
  guard = openSsrfGuard({ allowedPrivateHosts: [server.host] })
})
afterEach(async () => {
  await held.close()
  await server.close()
  await guard.close()
})

const signal = new AbortController().signal

const call = (actionId: string, input?: AnsweredInput): Promise<ToolOutcome> => {
  const target = { url: server.url, transport: 'streamable_http', headers: {} } as const
  const tool = { name: 'book', input_schema: { type: 'object' } }
  const made = { actionId, arguments: {}, signal, ...(input !== undefined && { input }) }
  return callWithInput({ guard, held }, made, { server: 'Asking', target, tool, timeoutMs: 60_000 })
}

const resumeOf = (outcome: ToolOutcome): string => {
  if (outcome.ok || outcome.input === undefined) throw new Error('nothing was requested')
  return outcome.input.resume
}

const answered = (outcome: ToolOutcome): AnsweredInput => ({
  resume: resumeOf(outcome),
  answer: { action: 'accept', content: { seat: 'aisle' } },
})

const dismissed = (count: number) =>
  vi.waitFor(() => expect(server.answers).toEqual(Array.from({ length: count }, () => ({ action: 'cancel' }))), {
    timeout: 30_000,
  })

describe('calls that are held open for input', () => {
  it('are limited: a further question is dismissed, and its call is repeated with the answer', async () => {
    held = new HeldCalls({ max: 1, ms: 60_000 })
    const first = await call('act_1')
    const second = await call('act_2')
    await dismissed(1)
    expect(await call('act_2', answered(second))).toMatchObject({ ok: true, output: expect.stringContaining('accept') })
    expect(await call('act_1', answered(first))).toMatchObject({ ok: true, output: expect.stringContaining('accept') })
    expect(server.calls).toBe(3)
  })

  it('are given up after their time limit', async () => {
    held = new HeldCalls({ max: 10, ms: 50 })
    const first = await call('act_1')
    await dismissed(1)
    expect(await call('act_1', answered(first))).toMatchObject({ ok: true })
    expect(server.calls).toBe(2)
  })

  it('are given up when they are released, and when the process ends', async () => {
    held = new HeldCalls()
    await call('act_1')
    held.release('act_1')
    await dismissed(1)
    await call('act_2')
    await held.close()
    await dismissed(2)
  })

  it('do not use the answer to another action', async () => {
    held = new HeldCalls()
    const first = await call('act_1')
    expect(await call('act_2', answered(first))).toMatchObject({ ok: true })
    expect(server.calls).toBe(2)
    expect(server.answers).toHaveLength(1)
  })
})
