import { skills, skillVersions } from '#actors/skills/kinds.ts'
import { SkillVersions } from '#actors/skills/skill-versions.ts'
import { openStorage } from '#src/open-storage.ts'
import { projectScope } from '#storage/scope.ts'

/**
 * Publishes and deprecates versions of one skill endlessly, in the store that the arguments name, and prints each
 * acknowledged step. It begins with what an earlier process left undone.
 */
const [, , dataDir = '', mongodbUrl = ''] = process.argv
const project = 'prj_kills'
const scope = projectScope(project)
const { records } = await openStorage({ dataDir, mongodbUrl: mongodbUrl === '' ? null : mongodbUrl })
await records.prepare([skills, skillVersions])
const versions = new SkillVersions(records, Date.now)
await versions.skills.insert({
  ...{ id: 'skl_killed', project },
  data: { name: 'killed', description: 'Is killed.', metadata: {}, candidates: [] },
})
const publication = { override: [], noticesOf: () => [] }

const first = (await versions.numbers(project, 'skl_killed')).length
for (let n = Math.max(first, 1); ; n += 1) {
  const draft = await versions.draft(scope, {
    ...{ id: `skv_${n}`, skill_id: 'skl_killed', version: `1.0.${n}`, description: 'Is killed.' },
    ...{ files: [], findings: [], created_by: { kind: 'system', id: null } },
    notices: [],
  })
  if (draft.data.status === 'draft') await versions.publish(draft, publication)
  process.stdout.write(`published 1.0.${n}\n`)
  const row = await versions.find(scope, 'skl_killed', `1.0.${n}`)
  if (n % 2 === 0 && row.data.status === 'published') await versions.deprecate(row, () => [])
  if (n % 2 === 0) process.stdout.write(`deprecated 1.0.${n}\n`)
}
