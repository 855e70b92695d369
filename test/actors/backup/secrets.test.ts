import { describe, expect, it } from 'vitest'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { addProject, exported, imported, openPlace, type Place, project } from './moving.ts'

const passphrase = 'correct horse battery'
const secretOf = async (place: Place) => (await place.auth.projects.signingSecrets(project))?.[0] ?? null

const keyed = (cause: string) => ({
  operation: 'project_keys.create',
  scope: projectScope(project),
  idempotency: { cause, fingerprint: 'f', seed: null },
  secret: true,
})

/** An installation with a project, and a request that was answered with a secret. */
const withSecrets = async (key: number, phrase: string | null) => {
  const place = await openPlace(openMemoryStorage(), key, phrase)
  const secretKey = await addProject(place)
  await place.idempotent.run(keyed('idem:k'), async () => ({ shown: 'csk_once' }))
  return { place, secretKey }
}

describe('under a passphrase', () => {
  it('secrets can be opened under another master key, and keys that become void are reported', async () => {
    const { place, secretKey } = await withSecrets(1, passphrase)
    const there = await openPlace(openMemoryStorage(), 2, passphrase)
    const { file, report } = await exported(place)
    expect(report.missing).toEqual([])
    const { missing } = await imported(there, file)
    expect(missing).toEqual([
      `secret key csk_${secretKey.slice(4, 8)}…${secretKey.slice(-4)} (Backend): it is void under another master key; make a new one`,
    ])
    expect(await secretOf(there)).toBe(await secretOf(place))
    expect(await there.auth.apiKeys.verify(secretKey)).toBeNull()
    await expect(there.idempotent.run(keyed('idem:k'), () => expect.unreachable())).rejects.toMatchObject({
      code: 'idempotency_secret_shown',
    })
  })

  it('a file reveals no secret', async () => {
    const { place, secretKey } = await withSecrets(1, passphrase)
    const { file } = await exported(place)
    for (const secret of [await secretOf(place), secretKey, 'csk_once', passphrase]) expect(file).not.toContain(secret)
  })

  it('a file is refused without it or with another, and nothing is written', async () => {
    const { place } = await withSecrets(1, passphrase)
    const { file } = await exported(place)
    for (const [other, why] of [
      [null, 'set BACKUP_PASSPHRASE'],
      ['another passphrase', 'does not match this file'],
    ] as const) {
      const there = await openPlace(openMemoryStorage(), 2, other)
      await expect(imported(there, file)).rejects.toThrow(why)
      expect(await secretOf(there)).toBeNull()
    }
  })

  it('a short one is refused', async () => {
    const { place } = await withSecrets(1, 'too short')
    await expect(exported(place)).rejects.toThrow('needs 12 characters')
  })

  it('secrets that the exporting installation cannot open are reported', async () => {
    const { place } = await withSecrets(1, null)
    const other = await openPlace(place.storage, 2, passphrase)
    const { report } = await exported(other)
    expect(report.missing).toEqual([
      expect.stringContaining('Idempotency-Key is free again'),
      expect.stringContaining('a new one'),
    ])
  })
})

describe('without a passphrase', () => {
  it('secrets can be opened under the same master key', async () => {
    const { place, secretKey } = await withSecrets(1, null)
    const there = await openPlace(openMemoryStorage(), 1)
    expect((await imported(there, (await exported(place)).file)).missing).toEqual([])
    expect(await secretOf(there)).toBe(await secretOf(place))
    expect(await there.auth.apiKeys.verify(secretKey)).toMatchObject({ project })
  })

  it('under another master key the project gets a new signing secret, and everything lost is reported', async () => {
    const { place } = await withSecrets(1, null)
    const there = await openPlace(openMemoryStorage(), 2)
    const { missing } = await imported(there, (await exported(place)).file)
    expect(missing.map((each) => each.split(':')[0])).toEqual([
      'a kept answer that shows a secret',
      expect.stringMatching(/^secret key csk_/),
      'the secret that signs requests to http tools',
    ])
    expect(await secretOf(there)).toMatch(/^whsec_/)
    expect(await secretOf(there)).not.toBe(await secretOf(place))
    const again = await there.idempotent.run(keyed('idem:k'), async () => ({ shown: 'again' }))
    expect(again.replayed).toBe(false)
  })
})
