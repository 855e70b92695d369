import { describe, expect, it } from 'vitest'
import { BrowserProfiles } from '#actors/browser/profiles/browser-profiles.ts'
import { maxProfiles } from '#specs/resources/web/browse-limits.ts'
import { projectScope } from '#specs/scope.ts'
import { openHouse, readableBox } from '#test/support/open-house.ts'

const cookie = {
  ...{ name: 'seat', value: '17', domain: 'example.com', path: '/', expires: -1, httpOnly: true, secure: true },
  sameSite: 'Lax',
} as const
const state = { cookies: [cookie], origins: [] }
const acme = { project: 'prj_a', tenant: 'ten_acme' }

const opened = async () => {
  const { records, log } = await openHouse()
  return new BrowserProfiles({ records, log, box: readableBox, now: Date.now })
}

describe('profiles of browsers', () => {
  it('are opened by their owner, under their name, as they were kept last', async () => {
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

  it('keeps no profile that is too large, nor one too many', async () => {
    const profiles = await opened()
    await profiles.save(acme, 'large', { cookies: [{ ...cookie, value: 'x'.repeat(300_000) }], origins: [] })
    expect(await profiles.open(acme, 'large')).toBeNull()
    for (let n = 0; n <= maxProfiles; n++) await profiles.save(acme, `profile-${n}`, state)
    expect(await profiles.table.count(projectScope('prj_a'), { owner: 'ten_acme' })).toBe(maxProfiles)
    expect(await profiles.open(acme, `profile-${maxProfiles}`)).toBeNull()
    expect(await profiles.open(acme, 'profile-0')).toEqual(state)
  })

  it('are nothing when they were sealed for another place', async () => {
    const profiles = await opened()
    await profiles.save(acme, 'shop', state)
    const row = await profiles.table.find(projectScope('prj_a'), { owner: 'ten_acme', name: 'shop' })
    await profiles.table.change(projectScope('prj_a'), row?.id ?? '', {
      edit: ({ data }) => ({ ...data, sealed: 'elsewhere#{}' }),
    })
    expect(await profiles.open(acme, 'shop')).toBeNull()
  })
})
