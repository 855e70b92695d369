import { describe, expect, it } from 'vitest'
import { type ConnectionOwner, maxConnections, requireRoom } from '#actors/connections/connection-limit.ts'
import { connectionRows } from '#actors/connections/kinds.ts'
import { openHouse } from '#test/support/open-house.ts'

const ownerOf = (type: ConnectionOwner['type'], tenant: string | null = null, user: string | null = null) => ({
  ...{ type, project: 'prj_a', tenant, user },
})

describe('connections', () => {
  it('are limited for each owner, independently of other owners', async () => {
    const { records } = await openHouse()
    const ann = ownerOf('end_user', 'ten_a', 'ann')
    for (let n = 0; n < maxConnections; n++) {
      await expect(requireRoom(records, ann)).resolves.toBeUndefined()
      await records.insert(connectionRows, {
        ...{ id: `con_${n}`, project: 'prj_a', tenant: 'ten_a', user: 'ann', version: 1 },
        ...{ created_at: n, updated_at: n, expires_at: null },
        data: { owner_type: 'end_user', connector: 'stripe', status: 'active', use_key: 'stripe end_user' },
      })
    }
    await expect(requireRoom(records, ann)).rejects.toMatchObject({ code: 'connection_limit_reached' })
    const others = [
      ownerOf('end_user', 'ten_a', 'bob'),
      ownerOf('end_user', 'ten_b', 'ann'),
      ownerOf('tenant', 'ten_a'),
      ownerOf('project'),
      { ...ann, project: 'prj_b' },
    ]
    for (const other of others) await expect(requireRoom(records, other)).resolves.toBeUndefined()
  })
})
