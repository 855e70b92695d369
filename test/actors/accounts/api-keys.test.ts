import { beforeEach, describe, expect, it } from 'vitest'
import { ApiKeys } from '#actors/accounts/api-keys.ts'
import { authKinds, type ProjectKeyData, projectKeys } from '#actors/accounts/kinds.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const masterKey = Buffer.alloc(32, 1)
const clock = { now: 1_800_000_000_000 }
const now = () => clock.now
const scope = projectScope('prj_1')

const open = () => {
  const { records } = openMemoryStorage({ now })
  const node = () => new ApiKeys({ records, keys: keysOf({ masterKey }), now })
  const table = new Table(records, projectKeys, now)
  const keys = node()
  const create = async (data: Partial<ProjectKeyData> = {}) => {
    const { secret, material } = keys.mint()
    const row = await table.insert({
      id: 'key_1',
      project: 'prj_1',
      data: {
        name: 'k',
        ...material,
        created_by: null,
        expires_at_ms: null,
        revoked_at_ms: null,
        replaced_by: null,
        last_used_at_ms: null,
        ...data,
      },
    })
    if (row === null) throw new Error('key exists')
    return { secret, row }
  }
  const revoke = () => table.change(scope, 'key_1', { edit: (row) => ({ ...row.data, revoked_at_ms: clock.now }) })
  return { records, table, keys, node, create, revoke }
}

describe('secret keys', () => {
  beforeEach(() => {
    clock.now = 1_800_000_000_000
  })

  it('consist of csk_ and 256 random bits', () => {
    const { keys } = open()
    const minted = Array.from({ length: 100 }, () => keys.mint().secret)
    for (const secret of minted) expect(secret).toMatch(/^csk_[A-Za-z0-9_-]{43}$/)
    expect(new Set(minted).size).toBe(100)
  })

  it('are stored as a hash with their first and last characters', async () => {
    const { records, create } = open()
    await records.prepare(authKinds)
    const { secret, row } = await create()
    expect(JSON.stringify(row)).not.toContain(secret.slice(8, -4))
    expect([row.data.prefix, row.data.last4]).toEqual([secret.slice(0, 8), secret.slice(-4)])
  })

  it('authenticate their project', async () => {
    const { keys, create } = open()
    const { secret } = await create()
    expect(await keys.verify(secret)).toEqual({ kind: 'secret_key', project: 'prj_1', keyId: 'key_1' })
  })

  it('are verified without a promise within a second of the last check', async () => {
    const { keys, create } = open()
    const { secret } = await create()
    const first = await keys.verify(secret)
    clock.now += 499
    expect(keys.verify(secret)).toBe(first)
  })

  it('are refused if unknown, truncated, altered or of another installation', async () => {
    const { records, keys, create } = open()
    const { secret } = await create()
    for (const other of ['', 'csk_', keys.mint().secret, secret.slice(0, -1), `${secret}x`, ` ${secret}`])
      expect(await keys.verify(other)).toBeNull()
    expect(
      await new ApiKeys({ records, keys: keysOf({ masterKey: Buffer.alloc(32, 2) }), now }).verify(secret),
    ).toBeNull()
  })

  it('are refused at once on the node that revoked them', async () => {
    const { keys, create, revoke } = open()
    const { secret, row } = await create()
    expect(await keys.verify(secret)).not.toBeNull()
    await revoke()
    keys.forget(row)
    expect(await keys.verify(secret)).toBeNull()
  })

  it('are refused on every other node within a second of their revocation', async () => {
    const { node, create, revoke } = open()
    const { secret } = await create()
    const other = node()
    expect(await other.verify(secret)).not.toBeNull()
    await revoke()
    clock.now += 1000
    expect(await other.verify(secret)).toBeNull()
  })

  it('are refused as soon as they expire, without a read', async () => {
    const { keys, create } = open()
    const { secret } = await create({ expires_at_ms: clock.now + 100 })
    clock.now += 99
    expect(await keys.verify(secret)).not.toBeNull()
    clock.now += 1
    expect(keys.verify(secret)).toBeNull()
  })

  it('have their last use recorded at most once a minute', async () => {
    const { table, keys, create } = open()
    const { secret } = await create()
    const used = async () => (await table.get(scope, 'key_1'))?.data.last_used_at_ms
    const start = clock.now
    await keys.verify(secret)
    await expect.poll(used).toBe(start)
    const { version } = (await table.get(scope, 'key_1')) ?? {}
    clock.now = start + 59_999
    await keys.verify(secret)
    expect((await table.get(scope, 'key_1'))?.version).toBe(version)
    clock.now = start + 60_000
    await keys.verify(secret)
    await expect.poll(used).toBe(start + 60_000)
  })
})
