import { expect, it } from 'vitest'
import { lastingKeys } from '#actors/accounts/lasting-keys.ts'
import { actorRows, kinds } from '#actors/capabilities.ts'
import type { AnyKind } from '#records/schema.ts'
import { countSealed, sealAnew } from '#records/sealing/sealed-anew.ts'
import type { RecordStore, StoredRecord } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const [first, second, third] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
const [before, between, after] = [
  openSecretBox({ masterKey: first }),
  openSecretBox({ masterKey: second, previous: [first] }),
  openSecretBox({ masterKey: second }),
]
const sealing = kinds.filter((kind) => kind.sealed !== undefined)
const secretOf = (kind: AnyKind, field: string, n: number) => `secret of ${kind.name}.${field} ${n}`

const rowOf = (kind: AnyKind, n: number, box = before): StoredRecord => {
  const bare = {
    ...{ id: `row_${String(n).padStart(4, '0')}`, project: `prj_${n % 3}`, tenant: null, user: null },
    ...{
      version: 1,
      created_at: 1,
      updated_at: 7,
      expires_at: null,
      data: { name: `row ${n}`, connector: `github_${n}` },
    },
  }
  const secrets = (kind.sealed ?? []).map(({ field, aad }) => [field, box.seal(secretOf(kind, field, n), aad(bare))])
  return { ...bare, data: { ...bare.data, ...Object.fromEntries(secrets) } }
}

/** A store with this number of rows of every kind that declares a sealed field. */
const filled = async (rows: number): Promise<RecordStore> => {
  const { records } = openMemoryStorage()
  await records.prepare(kinds)
  for (const kind of sealing)
    await records.insertMany(
      kind,
      Array.from({ length: rows }, (_, n) => rowOf(kind, n)),
    )
  return records
}

const allOf = (records: RecordStore, kind: AnyKind) => records.ofEveryProject(kind, null, 1000)

it('reseals every declared field under the new key, and none stays under the old one', async () => {
  expect(sealing.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'connection_secrets',
      'provider_connections',
      'projects',
      'browser_profiles',
      'tool_headers',
    ]),
  )
  const records = await filled(45)
  const parts = { records, kinds, box: between }
  expect(await countSealed(parts)).toEqual({ earlier: 45 * sealing.length, unreadable: 0 })
  expect(await sealAnew(parts, () => true)).toEqual({ earlier: 45 * sealing.length, unreadable: 0 })
  expect(await countSealed(parts)).toEqual({ earlier: 0, unreadable: 0 })
  for (const kind of sealing) {
    for (const [n, row] of (await allOf(records, kind)).entries()) {
      expect([row.version, row.updated_at, row.data.name]).toEqual([2, 7, `row ${n}`])
      for (const { field, aad } of kind.sealed ?? []) {
        const value = String(row.data[field])
        expect(after.open(value, aad(row))).toBe(secretOf(kind, field, n))
        expect(() => before.open(value, aad(row))).toThrow('not known')
      }
    }
  }
  expect(await sealAnew(parts, () => true), 'a second time there is nothing to do').toEqual({
    earlier: 0,
    unreadable: 0,
  })
})

it('reseals last the row that records that the earlier key is needed', () => {
  expect(sealing.at(-1)).toBe(lastingKeys)
})

it('reseals no list row of an actor, as its version is that of a commit', () => {
  const rows = new Set(Object.values(actorRows).map(({ name }) => name))
  expect(sealing.filter(({ name }) => rows.has(name))).toEqual([])
})

it('continues after it was interrupted', async () => {
  const records = await filled(45)
  const parts = { records, kinds, box: between }
  for (let pages = 1; ; pages += 7) {
    let left = pages
    const done = await sealAnew(parts, () => left-- > 0)
    const [own] = await allOf(records, lastingKeys)
    const others = await countSealed({ ...parts, kinds: sealing.filter((kind) => kind !== lastingKeys) })
    if (between.isCurrent(String(own?.data.sealed))) expect(others.earlier).toBeLessThanOrEqual(45)
    if (done !== null) break
    expect((await countSealed(parts)).earlier).toBeGreaterThan(0)
  }
  expect(await countSealed(parts)).toEqual({ earlier: 0, unreadable: 0 })
})

it('leaves a value that no known key has sealed unchanged, and counts it', async () => {
  const records = await filled(1)
  const kind = sealing.find(({ name }) => name === 'tool_headers') ?? lastingKeys
  const stranger = rowOf(kind, 9, openSecretBox({ masterKey: third }))
  await records.insert(kind, stranger)
  expect(await sealAnew({ records, kinds, box: between }, () => true)).toEqual({
    earlier: sealing.length,
    unreadable: 1,
  })
  expect(await records.get(kind, projectScope(stranger.project), stranger.id)).toEqual(stranger)
})

it('reseals a value written concurrently, and does not restore the earlier one', async () => {
  const { records } = openMemoryStorage()
  await records.prepare(kinds)
  const kind = sealing.find(({ name }) => name === 'tool_headers') ?? lastingKeys
  await records.insert(kind, rowOf(kind, 1))
  const [row] = await allOf(records, kind)
  if (row === undefined) throw new Error('no row')
  let raced = false
  const racing: RecordStore = new Proxy(records, {
    get: (target, name) =>
      name === 'replace' && !raced
        ? async (...args: Parameters<RecordStore['replace']>) => {
            raced = true
            const sealed = before.seal('written meanwhile', kind.sealed?.[0]?.aad(row) ?? '')
            await records.replace(kind, { ...row, version: 2, data: { ...row.data, sealed } })
            return records.replace(...args)
          }
        : Reflect.get(target, name, target).bind(target),
  })
  await sealAnew({ records: racing, kinds: [kind], box: between }, () => true)
  const [now] = await allOf(records, kind)
  expect(now?.version).toBe(3)
  expect(after.open(String(now?.data.sealed), kind.sealed?.[0]?.aad(row) ?? '')).toBe('written meanwhile')
})
