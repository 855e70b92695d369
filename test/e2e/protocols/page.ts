import { vi } from 'vitest'
import { patience } from '../patience.ts'
import { refundTool, startToolServer, type ToolServer } from '../tool-server.ts'
import { World } from '../world.ts'

/** Permissions of a page that does all that a page may do. */
const everyPermission = ['sessions:turn', 'sessions:approve', 'sessions:tools'] as const

/** A function tool that a page declares. */
export const pageTool = {
  type: 'function',
  function: { name: 'get_page', description: 'The page that is shown.', parameters: { type: 'object' } },
} as const

/** A server with an agent whose refunds its end users approve, for tests of other products' clients. */
export class PageWorld {
  readonly world: World
  readonly tool: ToolServer
  readonly #tenant: string
  readonly agents: Readonly<Record<'end_user' | 'operator', string>>

  private constructor(
    world: World,
    tool: ToolServer,
    of: { readonly tenant: string; readonly agents: Readonly<Record<'end_user' | 'operator', string>> },
  ) {
    this.world = world
    this.tool = tool
    this.#tenant = of.tenant
    this.agents = of.agents
  }

  static async start(): Promise<PageWorld> {
    const tool = await startToolServer()
    const world = await World.start({ tools: [tool] })
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const agentOf = async (approver: string): Promise<string> => {
      const tools = [refundTool(tool, { needsApproval: true, approver })]
      const config = { model: 'simulated-1', tools, show_reasoning: true }
      return (await world.api.post('/v1/agents', { name: approver, config })).body.id
    }
    const agents = { end_user: await agentOf('end_user'), operator: await agentOf('operator') }
    return new PageWorld(world, tool, { tenant, agents })
  }

  async token(permissions: readonly string[] = everyPermission, user = 'ada', expires_in = 900): Promise<string> {
    const body = { tenant_id: this.#tenant, external_user_id: user, permissions, expires_in }
    return (await this.world.api.post('/v1/client-tokens', body)).body.token
  }

  /** A session of `ada`, whose agent's refunds this approver decides about. */
  session(approver: 'end_user' | 'operator' = 'end_user'): Promise<string> {
    const owner = { tenant_id: this.#tenant, external_user_id: 'ada' }
    return this.world.api.createSession({ ...owner, agent_id: this.agents[approver] })
  }

  /** A key of the agent whose refunds its end users approve. */
  async agentKey(type: 'secret' | 'public' = 'secret'): Promise<string> {
    const { body } = await this.world.api.post(`/v1/agents/${this.agents.end_user}/keys`, {
      key_type: type,
      name: type,
    })
    return body.key
  }

  async stop(): Promise<void> {
    await this.world.stop()
    await this.tool.close()
  }
}

/** Resolves when what a page shows holds. */
export const shows = (holds: () => void): Promise<void> => vi.waitFor(holds, patience)
