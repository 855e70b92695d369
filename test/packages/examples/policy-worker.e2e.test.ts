import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { startToolServer, type ToolServer } from '#test/e2e/tool-server.ts'
import { World } from '#test/e2e/world.ts'
import { ours } from '../packed.ts'
import { pythonPackages } from '../python/pythons.ts'
import { bundled } from './bundled.ts'

let [world, tool, worker]: [World, ToolServer, ChildProcess] = Object(Array(3))
const httpx = pythonPackages('python-client', '../python/requirements.txt')
beforeAll(async () => {
  tool = await startToolServer()
  world = await World.start({ tools: [tool] })
})
afterEach(async () => {
  worker.kill()
  if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit')
})
afterAll(async () => {
  await world.stop()
  await tool.close()
})

const inNode = async (): Promise<readonly string[]> => {
  const file = join(mkdtempSync(join(tmpdir(), 'worker-')), 'worker.mjs')
  writeFileSync(file, await bundled('examples/policy-worker/worker.ts', 'node'))
  return [process.execPath, file]
}
const inPython = async (): Promise<readonly string[]> => ['python3', ours('examples/policy-worker/worker.py')]

/** The worker in each language that this machine has. */
const workers = [
  { language: 'TypeScript', command: inNode },
  ...(httpx === null ? [] : [{ language: 'Python', command: inPython }]),
]

/** Starts a turn whose refund waits for a decision. @returns the session. */
const refund = async (amount: number): Promise<string> => {
  const parameters = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
  const tools = [{ type: 'http', name: 'issue_refund', url: tool.url, needsApproval: true, parameters }]
  const session = await world.api.createSession()
  await world.api.turn(session, {
    input: `Please use issue_refund, amount: ${amount}`,
    tools,
    pause_on_tool_calls: true,
  })
  return session
}

const statusOf = async (session: string): Promise<string> =>
  (await world.api.get(`/v1/actions?session_id=${session}`)).body.data[0]?.status

it.each(workers)(
  'the example of a worker in $language approves small refunds, rejects large ones and leaves the others to people',
  async ({ command }) => {
    const [program = '', ...args] = await command()
    const python = { PYTHONPATH: `${ours('packages/python/src')}:${httpx}`, PYTHONDONTWRITEBYTECODE: '1' }
    const env = { PATH: process.env.PATH, TROUPE_URL: world.url, TROUPE_KEY: world.secretKey, ...python }
    worker = spawn(program, args, { env, stdio: 'inherit' })
    const before = tool.calls.length
    const [small, medium, large] = [await refund(20), await refund(400), await refund(5000)]
    await vi.waitFor(async () => expect(await statusOf(large)).toBe('rejected'), { timeout: 30_000 })
    await vi.waitFor(async () => expect(await statusOf(small)).toBe('executed'), { timeout: 30_000 })
    expect(await statusOf(medium)).toBe('pending_approval')
    expect(tool.calls.slice(before).map(({ body }) => body.arguments.amount)).toEqual([20])
  },
)
