import { describe, expect, it } from 'vitest'
import { kinds } from '#actors/capabilities.ts'
import { ProjectEraser } from '#actors/tenants/project-eraser.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/scope.ts'
import { recordOf } from '#test/storage/samples.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'

const ofProjects = kinds.flatMap(({ ofProject, ...kind }) => (ofProject === undefined ? [] : [{ kind, ofProject }]))
const installation = projectScope('system')

describe('the erasure of a whole project', () => {
  it.each(ofProjects.map((each) => [each.kind.name, each] as const))(
    'removes what the installation stores for it as %s, and nothing of another project',
    async (_, { kind, ofProject }) => {
      const clock = new VirtualClock()
      const storage = openMemoryStorage({ now: clock.now })
      const deliver = () => Promise.reject(new ServiceError('not_found'))
      const host = { deliver, drop: () => {}, rows: { shown: async () => {} } }
      const projects = new ProjectEraser({ storage, host, clock, kinds, actorRows: [] })
      for (const project of ['prj_gone', 'prj_stays'])
        await storage.records.insert(kind, recordOf(ofProject(project), { project: 'system', data: { project } }))
      expect(await projects.erase('prj_gone')).toEqual({})
      expect(await storage.records.get(kind, installation, ofProject('prj_gone'))).toBeNull()
      expect(await storage.records.get(kind, installation, ofProject('prj_stays'))).not.toBeNull()
    },
  )
})
