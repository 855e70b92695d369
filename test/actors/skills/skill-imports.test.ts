import { beforeEach, describe, expect, it } from 'vitest'
import { skillImportUseCases } from '#actors/skills/import-use-cases.ts'
import { skillImports, skills, skillVersions } from '#actors/skills/kinds.ts'
import { SkillReader } from '#actors/skills/review/skill-reader.ts'
import { SkillFiles } from '#actors/skills/skill-files.ts'
import { SkillVersions } from '#actors/skills/skill-versions.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf } from '#test/support/call-of.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const scope = projectScope('prj_a')

let versions: SkillVersions
/** The use-cases of two nodes of one store. */
let here: ReturnType<typeof skillImportUseCases>
let elsewhere: typeof here
let import_id = ''

beforeEach(async () => {
  const { records, blobs } = openMemoryStorage({ now: Date.now })
  await records.prepare([skills, skillVersions, skillImports])
  versions = new SkillVersions(records, Date.now)
  const node = () =>
    skillImportUseCases({
      versions,
      files: new SkillFiles(blobs),
      scanner: {
        open: async () => [],
        scan: async () => ({
          ...{ findings: [], name: 'tables', description: 'Tables.' },
          reading: { passages: [], isWhole: true },
        }),
      },
      reader: new SkillReader(null),
      review: { findings: async () => [] },
      imports: new Table(records, skillImports, Date.now),
      guard: {
        request: () => {
          throw new Error('no URL is fetched')
        },
      },
    })
  here = node()
  elsewhere = node()
  import_id = (await here['skill_imports.create'](callOf({}, {}, { text: 'Use a table.' }))).id
})

const publish = (at = here) => at['skill_imports.publish'](callOf({ import_id }, {}, {}))
const reject = (at = here) => at['skill_imports.reject'](callOf({ import_id }, {}, undefined))

describe('an import of a skill', () => {
  it.each(['here', 'elsewhere'])(
    'that is rejected and published at the same time is one of both, %s',
    async (place) => {
      const other = place === 'here' ? here : elsewhere
      const outcomes = await Promise.allSettled([publish(), reject(other)])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const { status } = await here['skill_imports.get'](callOf({ import_id }, {}, undefined))
      const found = await versions.skills.find(scope, { name: 'tables' })
      expect({ status, isThere: found !== null }).toEqual({ status, isThere: status === 'published' })
    },
  )

  it('can be rejected after its publication failed', async () => {
    await versions.skills.insert({
      ...{ id: 'skl_other', project: 'prj_a' },
      data: { name: 'tables', description: 'Others.', metadata: {}, candidates: [] },
    })
    await expect(publish()).rejects.toMatchObject({ code: 'already_exists' })
    expect(await reject()).toMatchObject({ status: 'rejected' })
  })
})
