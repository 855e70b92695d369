import { describe, expect, it } from 'vitest'
import { skills, skillVersions } from '#actors/skills/kinds.ts'
import { SkillVersions } from '#actors/skills/skill-versions.ts'
import type { RecordStore } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const project = 'prj_a'
const scope = projectScope(project)
const publication = { override: [], noticesOf: () => [] }

/** A store whose process dies at the write with this number, from 1, before it is written. */
const dyingAt = (records: RecordStore, last: number): RecordStore => {
  let writes = 0
  const counted = async <T>(write: () => Promise<T>): Promise<T> => {
    writes += 1
    if (writes >= last) throw new Error('killed')
    return write()
  }
  return new Proxy(records, {
    get: (store, name) => {
      if (name === 'insert') return (...args: Parameters<RecordStore['insert']>) => counted(() => store.insert(...args))
      if (name === 'replace')
        return (...args: Parameters<RecordStore['replace']>) => counted(() => store.replace(...args))
      const value = Reflect.get(store, name)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
}

const opened = async () => {
  const { records } = openMemoryStorage()
  await records.prepare([skills, skillVersions])
  const versions = new SkillVersions(records, Date.now)
  await versions.skills.insert({
    ...{ id: 'skl_a', project },
    data: { name: 'a', description: 'A.', metadata: {}, candidates: [] },
  })
  const draft = (version: string) =>
    versions.draft(scope, {
      ...{ id: `skv_${version}`, skill_id: 'skl_a', version, description: 'A.', files: [], findings: [] },
      ...{ created_by: { kind: 'system', id: null }, notices: [] },
    })
  const used = async (at = versions) => (await at.resolve(project, { skillId: 'skl_a', version: null }))?.data.version
  return { records, versions, draft, used }
}

describe('the latest version of a skill', () => {
  it.each([1, 2])('is the highest published one when a process dies at write %i of a publication', async (write) => {
    const { records, versions, draft, used } = await opened()
    await versions.publish(await draft('1.0.0'), publication)
    const next = await draft('1.1.0')
    await expect(new SkillVersions(dyingAt(records, write), Date.now).publish(next, publication)).rejects.toThrow()
    expect([await used(), (await versions.find(scope, 'skl_a', '1.1.0')).data.status]).toEqual(['1.0.0', 'draft'])
    await versions.publish(next, publication)
    expect(await used()).toBe('1.1.0')
  })

  it.each([1, 2])('is one that is published when a process dies at write %i of a deprecation', async (write) => {
    const { records, versions, draft, used } = await opened()
    await versions.publish(await draft('1.0.0'), publication)
    const latest = await versions.publish(await draft('1.1.0'), publication)
    const dying = new SkillVersions(dyingAt(records, write), Date.now)
    await expect(dying.deprecate(latest, () => [])).rejects.toThrow()
    expect(await used()).toBe(write === 1 ? '1.1.0' : '1.0.0')
  })

  it('is found below many deprecated ones, and in rows of an earlier release', async () => {
    const { versions, draft, used } = await opened()
    await versions.publish(await draft('0.9.0'), publication)
    for (let n = 0; n < 20; n += 1) {
      const row = await versions.publish(await draft(`1.${n}.0`), publication)
      await versions.table.change(scope, row.id, {
        edit: ({ data }) => ({ ...data, status: 'deprecated', skill_status: 'skl_a deprecated' }),
      })
    }
    expect(await used()).toBe('0.9.0')
    await versions.skills.change(scope, 'skl_a', { edit: ({ data: { candidates: _, ...data } }) => data })
    expect(await used()).toBe('0.9.0')
    await versions.publish(await draft('0.8.0'), publication)
    expect(await used()).toBe('0.9.0')
  })

  it('is the highest one when two nodes publish at the same time', async () => {
    const { records, versions, draft, used } = await opened()
    const rows = [await draft('1.0.0'), await draft('2.0.0'), await draft('3.0.0')]
    const nodes = rows.map(() => new SkillVersions(records, Date.now))
    await Promise.all(rows.map((row, index) => (nodes[index] ?? versions).publish(row, publication)))
    expect(await used()).toBe('3.0.0')
  })
})
