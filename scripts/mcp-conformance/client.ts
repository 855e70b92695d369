import { randomUUID } from 'node:crypto'
import { isObject } from '#runtime/schema.ts'
import { Product } from './product.ts'
import { type ScriptedCall, scriptedModel } from './scripted-model.ts'

/*
 * The client that the official conformance suite tests: an installation of this server, which run.ts has started. This
 * program only uses its API and opens its sign-in links. The suite starts it once per scenario, with the URL of the
 * scenario's server as its argument.
 */

const url = process.argv.at(-1) ?? ''
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const given: unknown = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')
const context = isObject(given) ? given : {}
const product = new Product({
  url: process.env.TROUPE_URL ?? '',
  publicUrl: process.env.TROUPE_PUBLIC_URL ?? '',
  key: process.env.TROUPE_KEY ?? '',
})

const auth = () => {
  if (!scenario.startsWith('auth/')) return undefined
  const { client_id, client_secret } = context
  return {
    type: 'oauth',
    ...(typeof client_id === 'string' && { client_id }),
    ...(typeof client_secret === 'string' && { client_secret }),
  }
}

const argumentsOf = (name: string): object => (name === 'add_numbers' ? { a: 5, b: 3 } : {})

const callsOf = async (server: string): Promise<readonly ScriptedCall[]> => {
  if (Array.isArray(context.toolCalls))
    return context.toolCalls
      .filter(isObject)
      .map((call) => ({ name: String(call.name), arguments: call.arguments ?? {} }))
  const { tools } = await product.request(`/v1/mcp/servers/${server}/tools`)
  return tools.map(({ name }: { name: string }) => ({ name, arguments: argumentsOf(name) }))
}

// process ids are reused; short, since the names of its tools begin with it
const name = `suite-${randomUUID().slice(0, 8)}`
const server = await product.register({ name, url, transport: 'streamable_http', trust: true, auth: auth() })
const mcp_servers = [{ server_id: server.id, require_approval: 'never' }]
const agent = await product.request('/v1/agents', { name, config: { model: scriptedModel, mcp_servers } })
for (const call of await callsOf(server.id)) {
  const last = await product.turn(agent.id, scriptedModel, call)
  if (last.event_type !== 'turn.completed') throw new Error(`${call.name}: ${JSON.stringify(last)}`)
}
const path = `/v1/mcp/servers/${server.id}`
const { resources } = await product.request(`${path}/resources`)
for (const { uri } of resources) await product.request(`${path}/resources/read`, { uri })
const { prompts } = await product.request(`${path}/prompts`)
for (const prompt of prompts) await product.request(`${path}/prompts/fill`, { name: prompt.name })
