import { describe, expect, it } from 'vitest'
import { ApiKeys } from '#actors/accounts/api-keys.ts'
import { type BootstrapGiven, bootstrap, type Installation, installations } from '#actors/accounts/bootstrap.ts'
import { members, organizations, projectKeys, projects } from '#actors/accounts/kinds.ts'
import { verifyPassword } from '#actors/accounts/passwords.ts'
import { ProjectDirectory } from '#actors/accounts/project-directory.ts'
import { boundRecords } from '#records/bound-records.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { Table } from '#records/table.ts'
import type { RecordStore } from '#storage/ports.ts'
import { organizationScope, projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const masterKey = Buffer.alloc(32, 1)
const nothingGiven: BootstrapGiven = { secretKey: null, ownerEmail: null, ownerPassword: null }
/** A box that marks what was sealed, and for which purpose. */
const box = {
  seal: (text: string, aad: string) => `${aad}#${Buffer.from(text).toString('hex')}`,
  open: (sealed: string, aad: string) => Buffer.from(sealed.slice(aad.length + 1), 'hex').toString(),
}

/** @param stepMs how far the clock advances while the process waits for another. */
const processOn = (records: RecordStore, stepMs = 0, key: Buffer = masterKey) => {
  const clock = { now: 1_800_000_000_000 }
  const now = () => clock.now
  const apiKeys = new ApiKeys({ records, keys: keysOf({ masterKey: key }), now })
  const directory = new ProjectDirectory({ records, box, now })
  const pause = async () => {
    clock.now += stepMs
    await new Promise(setImmediate)
  }
  const start = (given = nothingGiven, show: (made: Installation) => void = () => {}) =>
    bootstrap({ records, apiKeys, projects: directory, given, show, now, pause })
  return { clock, now, apiKeys, directory, start }
}

const counts = async (records: RecordStore, organization: string, project: string) => [
  await records.count(organizations, organizationScope(organization)),
  await records.count(projects, organizationScope(organization)),
  await records.count(members, organizationScope(organization)),
  await records.count(projectKeys, projectScope(project)),
]

describe('the first start', () => {
  it('creates a working organisation, project, owner and secret key', async () => {
    const { records } = openMemoryStorage()
    const { now, apiKeys, directory, start } = processOn(records)
    const made = await start()
    expect(await counts(records, made.organization, made.project)).toEqual([1, 1, 1, 1])
    expect(await apiKeys.verify(made.generated?.secretKey ?? '')).toMatchObject({ project: made.project })
    const owner = await new Table(records, members, now).findGlobal({ email: made.ownerEmail })
    expect(owner?.data.role).toBe('owner')
    expect(
      await verifyPassword(owner?.data.password_hash ?? null, {
        password: made.generated?.ownerPassword ?? '',
        origin: '10.0.0.1',
      }),
    ).toBe(true)
    expect(await directory.settings(made.project)).toMatchObject({ organization: made.organization })
    expect(await directory.signingSecrets(made.project)).toEqual([expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)])
  })

  it('is completed by the next process if it failed before the clock was set back', async () => {
    const { records } = openMemoryStorage()
    const earlier = processOn(records)
    const died = earlier.start(nothingGiven, () => {
      throw new Error('killed')
    })
    await expect(died).rejects.toThrow('killed')
    const shown: string[] = []
    const later = processOn(records)
    later.clock.now -= 24 * 60 * 60_000
    await later.start(nothingGiven, ({ generated }) => void shown.push(generated?.secretKey ?? ''))
    expect(await later.apiKeys.verify(shown[0] ?? '')).not.toBeNull()
  })

  it('is incomplete if it cannot show its secrets: the next one shows new secrets, which work', async () => {
    const { records } = openMemoryStorage()
    const { apiKeys, start } = processOn(records, 60_000)
    const unshown = start(nothingGiven, () => {
      throw new Error('nobody reads')
    })
    await expect(unshown).rejects.toThrow('nobody reads')
    const shown: string[] = []
    const made = await start(nothingGiven, ({ generated }) => shown.push(generated?.secretKey ?? ''))
    expect(shown).toEqual([made.generated?.secretKey])
    expect(await apiKeys.verify(shown[0] ?? '')).toMatchObject({ project: made.project })
  })

  it('is left to another process that took over while the store stalled, and shows no secrets that it replaced', async () => {
    const { records } = openMemoryStorage()
    const stall = Promise.withResolvers<void>()
    const stalls = Promise.withResolvers<void>()
    const stalled: RecordStore = {
      ...boundRecords(records),
      insert: async (kind, record) => {
        if (kind.name === projectKeys.name) {
          stalls.resolve()
          await stall.promise
        }
        return records.insert(kind, record)
      },
    }
    const shown: string[] = []
    const show = ({ generated }: Installation) => void shown.push(generated?.secretKey ?? '')
    const first = processOn(stalled).start(nothingGiven, show)
    await stalls.promise
    const second = processOn(records, 60_000)
    await second.start(nothingGiven, show)
    stall.resolve()
    expect((await first).generated).toBeNull()
    expect(shown).toHaveLength(1)
    expect(await second.apiKeys.verify(shown[0] ?? '')).not.toBeNull()
  })

  it('uses the values of the environment, and does not show them', async () => {
    const { records } = openMemoryStorage()
    const { now, apiKeys, start } = processOn(records)
    const given = { secretKey: `csk_${'k'.repeat(32)}`, ownerEmail: 'ada@x.org', ownerPassword: 'correct horse' }
    const made = await start(given)
    expect(made).toMatchObject({ ownerEmail: 'ada@x.org', generated: { secretKey: null, ownerPassword: null } })
    expect(await apiKeys.verify(given.secretKey)).not.toBeNull()
    const owner = await new Table(records, members, now).findGlobal({ email: 'ada@x.org' })
    expect(
      await verifyPassword(owner?.data.password_hash ?? null, { password: 'correct horse', origin: '10.0.0.1' }),
    ).toBe(true)
  })

  it('happens once: the next start creates nothing and shows no secret', async () => {
    const { records } = openMemoryStorage()
    const first = await processOn(records).start()
    const second = await processOn(records).start()
    expect(second).toEqual({ ...first, generated: null })
    expect(await counts(records, first.organization, first.project)).toEqual([1, 1, 1, 1])
  })

  it('is refused under another master key, which would invalidate every key and secret of the store', async () => {
    const { records } = openMemoryStorage()
    await processOn(records).start()
    await expect(processOn(records, 0, Buffer.alloc(32, 2)).start()).rejects.toThrow(/MASTER_KEY/)
  })

  it('is done by one of several processes that start at once', async () => {
    const { records } = openMemoryStorage()
    const made = await Promise.all([1, 2, 3, 4].map(() => processOn(records).start()))
    expect(new Set(made.map(({ organization, project }) => `${organization} ${project}`)).size).toBe(1)
    expect(made.filter(({ generated }) => generated !== null)).toHaveLength(1)
    const [first] = made
    expect(await counts(records, first?.organization ?? '', first?.project ?? '')).toEqual([1, 1, 1, 1])
  })

  it.each([
    ['before the owner is there', members],
    ['when all is there but the mark', installations],
  ])('is completed by the next process if the first one dies %s', async (_, diesAt) => {
    const { records } = openMemoryStorage()
    const killed = Promise.reject(new Error('killed'))
    killed.catch(() => undefined)
    const dying: RecordStore = {
      ...boundRecords(records),
      insert: (kind, record) => (kind === members && diesAt === members ? killed : records.insert(kind, record)),
      replace: (kind, record) => (kind === diesAt ? killed : records.replace(kind, record)),
    }
    await expect(processOn(dying).start()).rejects.toThrow('killed')
    const [claim] = await records.list(installations, projectScope('installation'), { limit: 1 })
    const { now, apiKeys, start } = processOn(records, 1000)
    const made = await start()
    expect(made.organization).toBe(claim?.data.organization)
    expect(await counts(records, made.organization, made.project)).toEqual([1, 1, 1, 1])
    expect(await apiKeys.verify(made.generated?.secretKey ?? '')).toMatchObject({ project: made.project })
    const owner = await new Table(records, members, now).findGlobal({ email: made.ownerEmail })
    expect(
      await verifyPassword(owner?.data.password_hash ?? null, {
        password: made.generated?.ownerPassword ?? '',
        origin: '10.0.0.1',
      }),
    ).toBe(true)
  })
})
