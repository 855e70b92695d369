import type { ResultOf } from '#specs/index.ts'
import type { AuditActor } from '../records/audit-note.ts'
import { rowTimes, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import type { SkillImportData, SkillVersionData, StoredFile } from './kinds.ts'

/** Returns a version as the API returns it. */
export const versionView = ({ id, data, ...times }: Row<SkillVersionData>): ResultOf<'skill_versions.publish'> => ({
  id,
  skill_id: data.skill_id,
  version: data.version,
  status: data.status,
  description: data.description,
  files: data.files.map(fileView),
  findings: [...data.findings],
  overrides: [...data.overrides],
  created_by: nameOf(data.created_by),
  published_at: timestampOrNull(data.published_at),
  deprecated_at: timestampOrNull(data.deprecated_at),
  ...rowTimes(times),
})

/** Returns an import as the API returns it. */
export const importView = ({ id, data, ...times }: Row<SkillImportData>): ResultOf<'skill_imports.get'> => ({
  id,
  status: data.status,
  source: data.source,
  url: data.url,
  name: data.name,
  description: data.description,
  files: data.files.map(fileView),
  findings: [...data.findings],
  blocked: data.findings.some(({ severity }) => severity === 'blocker'),
  skill_id: data.skill_id,
  version: data.version,
  created_by: nameOf(data.created_by),
  ...rowTimes(times),
})

const fileView = ({ path, bytes, sha256 }: StoredFile) => ({ path, bytes, sha256 })

const nameOf = ({ kind, id }: AuditActor): string => id ?? kind
