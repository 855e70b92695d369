import { describe, expect, it } from 'vitest'
import { type ConnectionOwner, maxConnections, withinConnectionLimit } from '#actors/connections/connection-limit.ts'
import { connectionRows } from '#actors/connections/kinds.ts'
import type { RecordStore } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openServices } from '#test/support/open-services.ts'

const ownerOf = (type: ConnectionOwner['type'], tenant: string | null = null, user: string | null = null) => ({
  ...{ type, project: 'prj_a', tenant, user },
})

/** Inserts the row of a connection of the user ann. */
const insert = async (records: RecordStore, n: number): Promise<void> => {
  await records.insert(connectionRows, {
    ...{ id: `con_${n}`, project: 'prj_a', tenant: 'ten_a', user: 'ann', version: 1 },
    ...{ created_at: n, updated_at: n, expires_at: null },
    data: { owner_type: 'end_user', connector: 'stripe', status: 'active', use_key: 'stripe end_user' },
  })
}

const host = { rows: { shown: async () => {} } }

describe('connections', () => {
  it('are limited for each owner, independently of other owners', async () => {
    const { records } = await openServices()
    const requireCapacity = (owner: ConnectionOwner) => withinConnectionLimit({ records, host }, owner, async () => {})
    const ann = ownerOf('end_user', 'ten_a', 'ann')
    for (let n = 0; n < maxConnections; n++) {
      await expect(requireCapacity(ann)).resolves.toBeUndefined()
      await insert(records, n)
    }
    await expect(requireCapacity(ann)).rejects.toMatchObject({ code: 'connection_limit_reached' })
    const others = [
      ownerOf('end_user', 'ten_a', 'bob'),
      ownerOf('end_user', 'ten_b', 'ann'),
      ownerOf('tenant', 'ten_a'),
      ownerOf('project'),
      { ...ann, project: 'prj_b' },
    ]
    for (const other of others) await expect(requireCapacity(other)).resolves.toBeUndefined()
  })

  it('do not exceed the limit of their owner when they are created at the same time', async () => {
    const { records } = await openServices()
    const ann = ownerOf('end_user', 'ten_a', 'ann')
    const create = (n: number) => () => insert(records, n)
    for (let n = 1; n < maxConnections; n++) await insert(records, n)
    const made = [0, 1, 2].map((n) => withinConnectionLimit({ records, host }, ann, create(maxConnections + n)))
    const refused = (await Promise.allSettled(made)).filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(2)
    expect(await records.count(connectionRows, projectScope('prj_a'), {})).toBe(maxConnections)
  })
})
