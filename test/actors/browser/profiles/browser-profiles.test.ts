import { describe, expect, it } from 'vitest'
import { BrowserProfiles } from '#actors/browser/profiles/browser-profiles.ts'
import { profileUseCases } from '#actors/browser/profiles/profile-use-cases.ts'
import { maxProfiles } from '#specs/resources/web/browse-limits.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { callOf, secretOf } from '#test/support/call-of.ts'
import { openServices, readableBox } from '#test/support/open-services.ts'

const cookie = {
  ...{ name: 'seat', value: '17', domain: 'example.com', path: '/', expires: -1, httpOnly: true, secure: true },
  sameSite: 'Lax',
} as const
const state = { cookies: [cookie], origins: [] }
const acme = { project: 'prj_a', tenant: 'ten_acme' }

const opened = async () => {
  const { records, log } = await openServices()
  return new BrowserProfiles({ records, log, box: readableBox, now: Date.now })
}

describe('browser profiles', () => {
  it('are opened by their owner and name, as they were last saved', async () => {
    const profiles = await opened()
    await profiles.save(acme, 'shop', { cookies: [], origins: [] })
    await profiles.save(acme, 'shop', state)
    expect(await profiles.open(acme, 'shop')).toEqual(state)
    for (const other of [
      { ...acme, tenant: 'ten_other' },
      { ...acme, tenant: null },
      { ...acme, project: 'prj_b' },
    ])
      expect(await profiles.open(other, 'shop')).toBeNull()
    expect(await profiles.open(acme, 'bank')).toBeNull()
  })

  it('are not saved if they are too large or exceed the maximum number', async () => {
    const profiles = await opened()
    await profiles.save(acme, 'large', { cookies: [{ ...cookie, value: 'x'.repeat(300_000) }], origins: [] })
    expect(await profiles.open(acme, 'large')).toBeNull()
    for (let n = 0; n <= maxProfiles; n++) await profiles.save(acme, `profile-${n}`, state)
    expect(await profiles.table.count(projectScope('prj_a'), { owner: 'ten_acme' })).toBe(maxProfiles)
    expect(await profiles.open(acme, `profile-${maxProfiles}`)).toBeNull()
    expect(await profiles.open(acme, 'profile-0')).toEqual(state)
  })

  it('do not exceed the maximum number of their owner when they are saved at the same time', async () => {
    const profiles = await opened()
    const all = Array.from({ length: maxProfiles + 20 }, (_, n) => profiles.save(acme, `profile-${n}`, state))
    await Promise.all(all)
    expect(await profiles.table.count(projectScope('prj_a'), { owner: 'ten_acme' })).toBe(maxProfiles)
  })

  it('are saved as they were last left when two jobs create the last one at the same time', async () => {
    const profiles = await opened()
    for (let n = 1; n < maxProfiles; n++) await profiles.save(acme, `profile-${n}`, state)
    const empty = { cookies: [], origins: [] }
    await Promise.all([profiles.save(acme, 'shop', empty), profiles.save(acme, 'shop', state)])
    expect(await profiles.open(acme, 'shop')).toEqual(state)
  })

  it('cannot be opened if they were sealed for another place', async () => {
    const profiles = await opened()
    await profiles.save(acme, 'shop', state)
    const row = await profiles.table.find(projectScope('prj_a'), { owner: 'ten_acme', name: 'shop' })
    await profiles.table.change(projectScope('prj_a'), row?.id ?? '', {
      edit: ({ data }) => ({ ...data, sealed: 'elsewhere#{}' }),
    })
    expect(await profiles.open(acme, 'shop')).toBeNull()
  })

  it.each([
    ['another tenant', 'prj_a', 'ten_other'],
    ['another project', 'prj_b', null],
    ['a tenant of another project with the same id', 'prj_b', 'ten_acme'],
  ])('are not listed, deleted or overwritten by %s', async (_who, project, tenant) => {
    const profiles = await opened()
    await profiles.save(acme, 'shop', state)
    const row = await profiles.table.find(projectScope('prj_a'), { owner: 'ten_acme', name: 'shop' })
    const useCases = profileUseCases(profiles)
    const scope = tenant === null ? projectScope(project) : tenantScope(project, tenant)
    const by = <P, Q>(params: P, query: Q) => ({ ...callOf(params, query, undefined, secretOf(project)), scope })
    expect((await useCases['browser_profiles.list'](by({}, { limit: 100 }))).data).toEqual([])
    await expect(useCases['browser_profiles.delete'](by({ profileId: row?.id ?? '' }, {}))).rejects.toMatchObject({
      code: 'not_found',
    })
    await profiles.save({ project, tenant }, 'shop', { cookies: [{ ...cookie, value: 'theirs' }], origins: [] })
    expect(await profiles.open(acme, 'shop')).toEqual(state)
    const own = callOf({}, { limit: 100 }, undefined)
    expect((await useCases['browser_profiles.list'](own)).data.map(({ tenantId }) => tenantId)).toContain('ten_acme')
  })

  it.each(['ten_acme', 'ten_acme/shop', '', 'null'])('derive no owner from a name such as %j', async (name) => {
    const profiles = await opened()
    await profiles.save(acme, 'shop', state)
    const strangers = [
      { project: 'prj_a', tenant: null },
      { project: 'prj_a', tenant: 'ten_' },
      { project: 'prj_a/ten_acme', tenant: null },
    ]
    for (const stranger of strangers) expect(await profiles.open(stranger, name)).toBeNull()
  })
})
