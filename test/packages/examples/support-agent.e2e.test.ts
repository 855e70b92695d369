import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NewEraServer, said, startNewEraServer } from '#test/e2e/mcp/new-era-server.ts'
import { World } from '#test/e2e/world.ts'
import { bundled } from './bundled.ts'

let [world, shop]: [World, NewEraServer] = Object(Array(2))
beforeAll(async () => {
  const refund = { name: 'refund', description: 'Refunds an order.', properties: { order: { type: 'string' } } }
  shop = await startNewEraServer([{ ...refund, run: ({ order }) => said(`Order ${String(order)} was refunded.`) }])
  world = await World.start({ tools: [shop] })
})
afterAll(async () => {
  await world.stop()
  await shop.close()
})

/** Runs the example with these lines typed. @returns what it printed. */
const typed = async (...lines: readonly string[]): Promise<string> => {
  const file = join(mkdtempSync(join(tmpdir(), 'support-')), 'agent.mjs')
  writeFileSync(file, await bundled('examples/support-agent/agent.ts', 'node'))
  const env = { PATH: process.env.PATH, TROUPE_URL: world.url, TROUPE_KEY: world.secretKey, MCP_URL: shop.url }
  const child = spawn(process.execPath, [file], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
  return printed
}

it('the example of a support agent answers from its handbook, refunds what a person approves, and remembers its customer', async () => {
  const printed = await typed(
    'Use knowledge_search with query: "Within how many days can goods be returned?"',
    'Use Shop__refund with order: "7"',
    'y',
    'Use Shop__refund with order: "8"',
    'n',
    'My name is Ada and I live in Oslo.',
  )
  expect(printed).toContain('within 30 days')
  expect(printed).toContain('Approve Shop__refund {"order":"7"}? (y/n)')
  expect(printed).toContain('Order 7 was refunded.')
  expect(shop.calls.map(({ given }) => given)).toEqual([{ order: '7' }])
  const [tenant] = (await world.api.get('/v1/tenants')).body.data
  const search = { userId: 'ada', query: 'Where do I live?' }
  const found = () => world.api.post('/v1/memory/search', search, { headers: { 'x-tenant-id': tenant.id } })
  await expect.poll(async () => JSON.stringify((await found()).body)).toContain('Oslo')
})
