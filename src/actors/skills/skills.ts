import { gatewayPort } from '#gateway/gateway.ts'
import { skillImports, skills as skillOperations, skillVersions } from '#specs/resources/skills.ts'
import { authPort } from '../accounts/accounts.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { localEmbedderPort } from '../capability/embedder-port.ts'
import { plainResource } from '../capability/plain-resource.ts'
import { textScan } from '../capability/text-scan.ts'
import { Table } from '../records/table.ts'
import { agentSkills } from './agent-skills.ts'
import { skillImportUseCases } from './import-use-cases.ts'
import { skillImports as importKind, skills as skillKind, skillVersions as versionKind } from './kinds.ts'
import { SkillReader } from './review/skill-reader.ts'
import { SkillReview } from './review/skill-review.ts'
import { SkillScanner } from './scanner/skill-scanner.ts'
import { SkillFiles } from './skill-files.ts'
import { SkillVersions } from './skill-versions.ts'
import { skillVersionUseCases } from './version-use-cases.ts'

/** Skills, by their names. Their versions are separate records. */
export const skills = plainResource({
  declaration: skillOperations,
  kind: skillKind,
  uniqueField: 'name',
  data: ({ name, description, metadata }) => ({ name, description, metadata: metadata ?? {}, candidates: [] }),
  views: ({ records, now }) => {
    const versions = new SkillVersions(records, now)
    return async (rows) => {
      const latest = await versions.latest(rows)
      return rows.map(({ id, data: { name, description, metadata } }) => ({
        ...{ name, description, metadata },
        latest_version: latest.get(id)?.data.version ?? null,
      }))
    }
  },
})

/** Versions and imports of skills, and the tool with which agents load them. */
export const skillContents = capability({
  name: 'skill_contents',
  operations: { ...skillVersions, ...skillImports },
  kinds: [versionKind, importKind],
  open: (services) => {
    const scanner = new SkillScanner()
    textScan.give(services, (texts, owner) => scanner.texts(texts, owner))
    const parts = {
      versions: new SkillVersions(services.records, services.now),
      files: new SkillFiles(services.storage.blobs),
      scanner,
      reader: new SkillReader(localEmbedderPort.of(services)),
      review: new SkillReview({
        chats: () => gatewayPort.of(services).chats,
        modelOf: async (project) => (await authPort.of(services).projects.settings(project))?.skillReviewModel ?? null,
      }),
      imports: new Table(services.records, importKind, services.now),
      guard: services.guard,
    }
    agentResources.give(services, agentSkills(parts))
    return {
      useCases: { ...skillVersionUseCases(parts), ...skillImportUseCases(parts) },
      close: () => scanner.close(),
    }
  },
})
