import type { SkillFinding } from '#src/skill-scan/index.ts'
import type { JsonObject } from '#storage/index.ts'
import type { AuditActor } from '../records/audit-note.ts'
import type { TypedKind } from '../records/schema.ts'

export type SkillData = {
  readonly name: string
  readonly description: string
  readonly metadata: JsonObject
  /**
   * Versions that are published or about to be, highest first. A reader skips those in another status, so that a
   * version takes effect by the one write that publishes it. Absent in rows of earlier releases.
   */
  readonly candidates?: readonly Candidate[]
}

/** A version that may be the latest published one, with the id of its row. */
export type Candidate = { readonly version: string; readonly id: string }

/** A file of a version. Its content is a blob of the project, named by this hash. */
export type StoredFile = {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly encoding: 'utf8' | 'base64'
}

/** A blocker that an admin accepted, with the reason. */
export type Override = { readonly code: string; readonly reason: string }

export type VersionStatus = 'draft' | 'published' | 'deprecated'

export type SkillVersionData = {
  readonly skill_id: string
  readonly version: string
  readonly status: VersionStatus
  /** `<skill> <status>`, by which lists filter. */
  readonly skill_status: string
  readonly description: string
  readonly files: readonly StoredFile[]
  readonly findings: readonly SkillFinding[]
  readonly overrides: readonly Override[]
  readonly created_by: AuditActor
  readonly published_at: number | null
  readonly deprecated_at: number | null
}

export type SkillImportData = {
  readonly status: 'staged' | 'published' | 'rejected'
  readonly source: 'text' | 'url' | 'archive'
  readonly url: string | null
  readonly name: string | null
  readonly description: string | null
  readonly files: readonly StoredFile[]
  readonly findings: readonly SkillFinding[]
  readonly skill_id: string | null
  readonly version: string | null
  /** The decision to publish is made, and the version is being published; the status is still `staged`. */
  readonly publishing?: boolean
  readonly created_by: AuditActor
}

/** Skills, which belong to a project. */
export const skills: TypedKind<SkillData> = { name: 'skills', unique: [{ fields: ['name'] }], outbox: true }

export const skillVersions: TypedKind<SkillVersionData> = {
  name: 'skill_versions',
  unique: [{ fields: ['skill_id', 'version'] }],
  filters: ['skill_id', 'skill_status'],
  outbox: true,
}

/** Imports, before and after their review. */
export const skillImports: TypedKind<SkillImportData> = { name: 'skill_imports', filters: ['status'], outbox: true }

/** Returns the value of the field by which lists find versions with a status. */
export const skillStatus = (skillId: string, status: VersionStatus): string => `${skillId} ${status}`
