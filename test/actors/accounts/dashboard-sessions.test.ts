import { beforeEach, describe, expect, it } from 'vitest'
import { DashboardSessions, dashboardSessionS } from '#actors/accounts/dashboard-sessions.ts'
import { dashboardSessions, members } from '#actors/accounts/kinds.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { organizationScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const clock = { now: 1_800_000_000_000 }
const now = () => clock.now
const scope = organizationScope('org_1')
const lifeMs = dashboardSessionS * 1000

const open = async () => {
  const { records } = openMemoryStorage({ now })
  const table = new Table(records, members, now)
  const member = await table.insert({
    id: 'mbr_1',
    project: 'org_1',
    data: { email: 'a@x.org', name: null, role: 'admin', password_hash: 'x' },
  })
  if (member === null) throw new Error('member exists')
  const node = () => new DashboardSessions({ records, keys: keysOf({ masterKey: Buffer.alloc(32, 1) }), now })
  const sessions = node()
  return { records, table, member, node, sessions, value: await sessions.open(member) }
}

describe('dashboard sessions', () => {
  beforeEach(() => {
    clock.now = 1_800_000_000_000
  })

  it('identify the member and its role', async () => {
    const { sessions, value } = await open()
    expect(await sessions.verify(value)).toMatchObject({ organization: 'org_1', memberId: 'mbr_1', role: 'admin' })
  })

  it('are stored as a hash of the cookie', async () => {
    const { records, value } = await open()
    const rows = await records.list(dashboardSessions, scope, { limit: 10 })
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(value)
  })

  it('are refused if unknown', async () => {
    const { sessions, value } = await open()
    for (const other of ['', 'x', `${value.slice(1)}A`, `${value}A`]) expect(await sessions.verify(other)).toBeNull()
  })

  it('end twelve hours after their last use', async () => {
    const { records, sessions, value } = await open()
    const storedExpiry = async () => (await records.list(dashboardSessions, scope, { limit: 1 }))[0]?.expires_at
    clock.now += lifeMs - 1
    expect(await sessions.verify(value)).not.toBeNull()
    await expect.poll(storedExpiry).toBe(clock.now + lifeMs)
    clock.now += lifeMs - 1
    expect(await sessions.verify(value)).not.toBeNull()
    await expect.poll(storedExpiry).toBe(clock.now + lifeMs)
    clock.now += lifeMs
    expect(await sessions.verify(value)).toBeNull()
  })

  it('of an earlier password are invalid by the change of the password alone, except the one in which it was set', async () => {
    const { table, member, node, sessions, value } = await open()
    const other = await sessions.open(member)
    const kept = await sessions.verify(value)
    const password_hash = 'y'
    const kept_session = { id: kept?.sessionId ?? '', password: sessions.markOf(password_hash) }
    await table.change(scope, member.id, { edit: ({ data }) => ({ ...data, password_hash, kept_session }) })
    expect([await node().verify(value), await node().verify(other)]).toEqual([kept, null])
    await table.change(scope, member.id, { edit: ({ data }) => ({ ...data, password_hash: 'z' }) })
    expect(await node().verify(value)).toBeNull()
  })

  it('end at once on sign-out, and on other nodes within a second', async () => {
    const { node, sessions, value } = await open()
    const other = node()
    const signedIn = await sessions.verify(value)
    await other.verify(value)
    await sessions.close('org_1', signedIn?.sessionId ?? '')
    expect(await sessions.verify(value)).toBeNull()
    clock.now += 1000
    expect(await other.verify(value)).toBeNull()
  })

  it('are closed by their organisation only', async () => {
    const { sessions, value } = await open()
    const signedIn = await sessions.verify(value)
    await sessions.close('org_2', signedIn?.sessionId ?? '')
    expect(await sessions.verify(value)).not.toBeNull()
  })

  it('follow the role of the member, and end when it is removed', async () => {
    const { table, sessions, value } = await open()
    await sessions.verify(value)
    await table.change(scope, 'mbr_1', { edit: (row) => ({ ...row.data, role: 'member' }) })
    sessions.recheckAll()
    expect(await sessions.verify(value)).toMatchObject({ role: 'member' })
    await table.remove(scope, 'mbr_1')
    sessions.recheckAll()
    expect(await sessions.verify(value)).toBeNull()
  })
})
