import { expect, it, vi } from 'vitest'
import { connectionDefinition } from '#machines/connection/connection-definition.ts'
import { newId } from '#runtime/ids.ts'
import { calls, httpTool } from '#test/actors/sessions/approving.ts'
import { newSession, openWorld, turn, type World } from '#test/actors/sessions/harness.ts'

const by = { kind: 'secret_key', id: 'key_a' }

/** A connection of a project that waits for its key. */
const connection = async ({ host }: World, project = 'prj_a'): Promise<string> => {
  const connection_id = newId('con')
  const owner = { project, tenant: null, user: null, createdAt: 0 }
  const input = {
    ...{ connection_id, connector: 'api_key', auth: 'api_key', name: 'Notes', owner_type: 'project' },
    ...{ test_only: false, pattern: null, config: {}, scopes: [], key_last4: null, tool_count: 0, held: false },
    created_by: by,
  }
  await host.create({ kind: connectionDefinition, id: connection_id, owner, input, cause: newId('req') })
  return connection_id
}

const places: readonly (readonly [string, (world: World) => Promise<string>])[] = [
  ['never existed', async () => newId('con')],
  ['is of another project', (world) => connection(world, 'prj_b')],
  ['is a session', async (world) => newSession(world)],
  [
    'was removed',
    async (world) => {
      const id = await connection(world)
      await world.host.deliver(id, { event: { type: 'delete' }, cause: newId('req') })
      return id
    },
  ],
]

it.each(places)(
  'a call that waits for a connection that %s ends at once with connection_not_found',
  async (_what, idOf) => {
    let connection_id = ''
    const required = { connector: 'api_key', authorize_url: null, expires_at: null }
    const world = await openWorld({
      scripts: [calls('post'), { text: ['It cannot be done.'] }],
      runTool: async () => ({
        ...({ ok: false, code: 'connection_required', message: 'Connect first.' } as const),
        connection: { ...required, connection_id },
      }),
    })
    connection_id = await idOf(world)
    const session = await newSession(world)
    await turn(world, session, { input: 'go', tools: [httpTool('post')], pause_on_tool_calls: false })
    await vi.waitFor(
      async () => {
        const log = await world.host.readLog(session, 0)
        const done = log.find(({ event_type }) => event_type === 'tool_call.completed')
        expect(done?.payload.output).toContain('connection_not_found')
        expect(log.at(-1)?.event_type).toBe('turn.completed')
      },
      { timeout: 30_000 },
    )
    await world.runtime.drain(0)
  },
)
