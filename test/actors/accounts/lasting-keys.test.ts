import { expect, it } from 'vitest'
import { apiPepperName } from '#actors/accounts/api-keys.ts'
import { installations } from '#actors/accounts/bootstrap.ts'
import { ClientTokens } from '#actors/accounts/client-tokens.ts'
import { openServerKeys } from '#actors/accounts/lasting-keys.ts'
import { kinds } from '#actors/capabilities.ts'
import { sealAnew } from '#records/sealing/sealed-anew.ts'
import { keysOf, lastingPurposes } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import type { RecordStore } from '#storage/ports.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const key = (fill: number) => Buffer.alloc(32, fill)

const madeUnder = async (fill: number): Promise<RecordStore> => {
  const { records } = openMemoryStorage()
  await records.prepare(kinds)
  const data = {
    ...{ organization: 'org_1', project: 'prj_1', member: 'usr_1', key: 'key_1', owner_email: 'a@b.example' },
    ...{ pepper: apiPepperName(key(fill)), ready: true },
  }
  await new Table(records, installations, Date.now).insert({ id: 'installation', project: 'installation', data })
  return records
}

const partsOf = (records: RecordStore, [masterKey, ...previous]: readonly [Buffer, ...Buffer[]]) => ({
  ...{ records, masterKey, previous },
  box: openSecretBox({ masterKey, previous }),
})

const start = (records: RecordStore, fills: readonly [number, ...number[]]) => {
  const [first, ...more] = fills
  return openServerKeys(partsOf(records, [key(first), ...more.map(key)]))
}

const finish = (records: RecordStore, fills: readonly [number, ...number[]]) => {
  const [first, ...more] = fills
  return sealAnew({ ...partsOf(records, [key(first), ...more.map(key)]), kinds }, () => true)
}

const peppers = (keys: Awaited<ReturnType<typeof start>>) =>
  lastingPurposes.map((each) => keys.lasting(each).toString('hex'))

it('derives the same lasting keys under every later master key, and signs with the newest', async () => {
  const records = await madeUnder(1)
  const before = await start(records, [1])
  for (const [now, earlier] of [
    [2, 1],
    [3, 2],
    [4, 3],
  ] as const) {
    const keys = await start(records, [now, earlier])
    expect(peppers(keys)).toEqual(peppers(before))
    expect(keys.current('client-tokens')).toEqual(keysOf({ masterKey: key(now) }).current('client-tokens'))
    await finish(records, [now, earlier])
    expect(peppers(await start(records, [now]))).toEqual(peppers(before))
    await expect(start(records, [earlier])).rejects.toThrow('another master key')
  }
})

it('refuses a start without the earlier key while it is needed', async () => {
  const records = await madeUnder(1)
  await expect(start(records, [2])).rejects.toThrow('MASTER_KEY_PREVIOUS')
  await start(records, [2, 1])
  await expect(start(records, [2])).rejects.toThrow('MASTER_KEY_PREVIOUS')
  await finish(records, [2, 1])
  await start(records, [2])
})

it('supports a rotation back to the earlier key', async () => {
  const records = await madeUnder(1)
  await start(records, [2, 1])
  await finish(records, [2, 1])
  await start(records, [1, 2])
  await finish(records, [1, 2])
  expect(peppers(await start(records, [1]))).toEqual(peppers(keysOf({ masterKey: key(1) })))
})

it('accepts client tokens signed under an earlier key only while that key is configured', async () => {
  const grant = {
    project: 'prj_1',
    tenant: 'ten_1',
    user: 'ada',
    permissions: [],
    sessionId: null,
    installationIds: [],
  }
  const open = (fills: readonly [number, ...number[]]) =>
    new ClientTokens({ keys: keysOf({ masterKey: key(fills[0]), previous: fills.slice(1).map(key) }), now: Date.now })
  const { token } = await open([1]).mint(grant)
  expect(await open([2, 1]).verify(token)).toMatchObject({ user: 'ada' })
  expect(await open([2]).verify(token)).toBeNull()
  expect(
    await open([1, 2]).verify((await open([2, 1]).mint(grant)).token),
    'of a node that has the new key',
  ).not.toBeNull()
})
