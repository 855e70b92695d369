import { vi } from 'vitest'
import { permissions } from '#specs/access.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import type { Api } from './api.ts'
import { patience } from './patience.ts'
import { endsTurn, isEvent } from './stream-reader.ts'
import { gatedTurn, type ToolServer } from './tool-server.ts'
import type { World } from './world.ts'

/** Ids of the resources of a tenant, created over HTTP. */
export interface Populated {
  readonly tenant: string
  readonly agent: string
  readonly installation: string
  readonly sessions: readonly string[]
  readonly runs: readonly string[]
  readonly action: string
  /** A client token of its first user. */
  readonly token: string
}

const made = async (api: Api, path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
  const { status, body: answer } = await api.post(path, body, { headers })
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  return answer
}

/** Creates an agent with a published version. @returns its id. */
export const publishedAgent = async (api: Api): Promise<string> => {
  const config = { model: 'simulated-1', system_prompt: 'You help.' }
  const agent = await made(api, '/v1/agents', { name: 'Helper', config })
  const version = { version: '1.0.0', config: { ...config, tools: [] }, visibility: 'public' }
  await made(api, `/v1/agents/${agent.id}/versions`, version)
  await made(api, `/v1/agents/${agent.id}/versions/1.0.0/publish`, {})
  return agent.id
}

const image = { type: 'input_image', image_url: `data:image/png;base64,${png(640, 480).toString('base64')}` }

/** A text long enough to be stored outside of its commit. */
const long = (name: string): string => `${name} `.repeat(20_000)

/** API clients of one project. */
export type ProjectApi = Pick<World, 'api' | 'as'>

/**
 * Creates a tenant with one of everything that a tenant can have: users, an installation, sessions of two users (one that
 * waits for an approval, one with long texts), an action, finished runs, recorded answers, webhook deliveries.
 */
export const populate = async (
  world: ProjectApi,
  tool: Pick<ToolServer, 'url'>,
  externalId: string,
  mark = externalId,
): Promise<Populated> => {
  const { api } = world
  const keyed = { 'idempotency-key': `tenant-${externalId}` }
  const body = { external_id: externalId, name: externalId, metadata: { mark } }
  const { id: tenant } = await made(api, '/v1/tenants', body, keyed)
  for (const user of ['ada', 'bob']) {
    await api.fetch(
      `/v1/tenants/${tenant}/users/${user}`,
      { display_name: user, metadata: { tenant, mark } },
      { method: 'PUT' },
    )
  }
  const agent = await publishedAgent(api)
  const { id: installation } = await made(api, '/v1/agent-installations', { tenant_id: tenant, agent_id: agent })
  const token = await tokenOf(api, tenant, 'ada')
  const sessions = await sessionsOf(world, tool, [token, await tokenOf(api, tenant, 'bob')], mark)
  const { id: action } = await made(api, '/v1/actions', {
    tool: 'refund',
    arguments: { tenant, mark },
    tenant_id: tenant,
  })
  await made(api, '/v1/webhooks', { name: externalId, url: tool.url, events: ['run.completed', 'action.created'] })
  const runs = await runsOf(api, { agent, tenant, installation }, mark)
  return { tenant, agent, installation, sessions, runs, action, token }
}

const tokenOf = async (api: Api, tenant_id: string, external_user_id: string): Promise<string> =>
  (await made(api, '/v1/client-tokens', { tenant_id, external_user_id, permissions })).token

const sessionsOf = (
  world: ProjectApi,
  tool: Pick<ToolServer, 'url'>,
  tokens: readonly string[],
  mark: string,
): Promise<readonly string[]> =>
  Promise.all(
    tokens.flatMap((token) => {
      const client = world.as(token)
      return [
        client.createSession({ metadata: { note: 'note', mark } }).then(async (session) => {
          const input = [{ type: 'input_text', text: `hello ${mark}` }, image]
          const turn = await client.turn(session, { input, instructions: long('rules') })
          await turn.until(endsTurn)
          return session
        }),
        client.createSession().then(async (session) => {
          // a client token may not declare tools that the server runs
          const turn = await world.api.turn(session, gatedTurn(tool))
          await turn.until(isEvent('turn.paused'))
          return session
        }),
      ]
    }),
  )

interface RunOwner {
  readonly agent: string
  readonly tenant: string
  readonly installation: string
}

const runsOf = async (
  api: Api,
  { agent, tenant, installation }: RunOwner,
  mark: string,
): Promise<readonly string[]> => {
  const body = {
    tenant_id: tenant,
    installation_id: installation,
    external_user_id: 'ada',
    input: { prompt: `hello ${mark}` },
  }
  const started = [0, 1, 2].map((n) =>
    made(api, `/v1/agents/${agent}/runs`, body, { 'idempotency-key': `${tenant}-${n}` }),
  )
  const ids = (await Promise.all(started)).map(({ id }) => id)
  await vi.waitFor(
    async () => {
      for (const id of ids) {
        const { body: run } = await api.get(`/v1/runs/${id}`)
        if (run.status !== 'completed') throw new Error(`${id} is ${run.status}`)
      }
    },
    { ...patience, interval: 100 },
  )
  return ids
}
