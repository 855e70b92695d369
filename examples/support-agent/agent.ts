import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { Troupe, textOf } from '@troupe/client'
import { api } from '@troupe/client/api'

/*
 * A support agent at the terminal: it answers from a handbook, remembers what its customer has said in earlier conversations,
 * and refunds by a tool of a remote MCP server, after a person has approved the call.
 */
const { TROUPE_URL = 'http://127.0.0.1:8080', TROUPE_KEY = '', MCP_URL = '', MODEL = 'simulated-1' } = process.env
const troupe = new Troupe({ baseUrl: TROUPE_URL, key: TROUPE_KEY })
const { agents, knowledgeBases, knowledgeSources, mcpServers, tenants } = api(troupe)

const tenant_id = (await tenants.create({ external_id: 'shop', name: 'Shop' })).id
const handbook = await knowledgeBases.create({ name: 'Handbook', description: 'Rules of the shop', tenant_id })
const rules = '# Returns\n\nGoods can be returned within 30 days. Food cannot be returned.'
const source = await knowledgeSources.create(handbook.id, { title: 'Returns', text: rules, mime_type: 'text/markdown' })
while ((await knowledgeSources.get(handbook.id, source.id)).status === 'pending') await setTimeout(200)

const shop = await mcpServers.create({ name: 'Shop', url: MCP_URL, tenant_id })
await mcpServers.reviewTool(shop.id, 'refund', { decision: 'approve', reason: 'Its definition was read.' })

const agent = await agents.create({
  name: 'Support',
  config: {
    model: MODEL,
    system_prompt: 'You help customers of a shop. Answer from the handbook. Refund only what it allows.',
    knowledge: [handbook.id],
    mcp_servers: [{ server_id: shop.id, require_approval: { tools: ['refund'] } }],
    memory: {},
  },
})
const session = troupe.sessions.open(null, { create: { agent_id: agent.id, tenant_id, external_user_id: 'ada' } })

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const ask = async (prompt: string): Promise<string> => {
  process.stdout.write(prompt)
  return String((await lines.next()).value ?? '')
}

const asked = new Set<string>()
const decide = async (): Promise<void> => {
  for (const { action_id, tool, arguments: given } of session.getSnapshot().approvals) {
    if (asked.has(action_id)) continue
    asked.add(action_id)
    const answer = await ask(`Approve ${tool} ${JSON.stringify(given)}? (y/n) `)
    await session[answer === 'y' ? 'approve' : 'reject'](action_id)
  }
}
session.subscribe(() => void decide())

for (let text = await ask('> '); text !== ''; text = await ask('> ')) {
  await session.send(text)
  const answer = session.getSnapshot().messages.at(-1)
  console.log(answer === undefined ? '' : textOf(answer))
}
process.exit()
