import { type Access, secretKeyOrDashboard } from '../access.ts'
import { isJsonResponse } from '../dsl/answer.ts'
import { defineOperations } from '../dsl/declare.ts'
import { cursorPage, cursorQuery } from '../dsl/lists.ts'
import { defineResource } from '../dsl/resource.ts'
import { semverPattern } from '../dsl/rule-words.ts'
import {
  array,
  boolean,
  defaulted,
  described,
  id,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  timestamp,
} from '../dsl/schema.ts'
import { metadata } from '../tools.ts'

const access = secretKeyOrDashboard('member')
/** Only members override a blocker. */
const publishAccess: Access = { ...secretKeyOrDashboard('admin'), rowForMembers: true }
const semver = string({ maxLength: 128, pattern: semverPattern, description: 'Semantic version, such as `1.2.0`.' })
const name = string({ minLength: 1, maxLength: 256 })
const description = string({ maxLength: 4096, description: 'When to use the skill. The model reads this.' })

/** Maximum length of a SKILL.md, in characters. */
const maxSkillText = 512 * 1024

/** Maximum size of a skill's archive, and of a body with files, in bytes. */
export const maxSkillArchive = 5 * 1024 * 1024

/** Memory that is reserved for an answer with a file, which may have 20 MB unpacked. */
const maxAnswerBytes = 32 * 1024 * 1024

/** Maximum number of files of a skill, without its SKILL.md. */
const maxSkillFiles = 200

/** Skills: instructions that agents load when a task needs them. */
export const skills = defineResource('skills', {
  path: '/v1/skills',
  key: 'skill_id',
  idPrefix: 'skl',
  title: 'Skill',
  description: 'Instructions, with optional files, that agents load when a task requires them.',
  fields: {
    name,
    description,
    metadata,
    latest_version: described(nullable(string()), 'Latest published version; null if none has been published.'),
  },
  writable: ['name', 'description', 'metadata'],
  access,
  operations: {
    list: {},
    create: {
      description: 'Creates a skill without content. Its content is in versions (`skill_versions.create`).',
      errors: ['already_exists'],
    },
    get: { description: 'Returns the skill without the files of its versions.' },
    update: {
      description: 'Changes the fields that the body contains. Published versions stay as they are.',
      errors: ['already_exists'],
    },
  },
})

/** A finding of the scan of a text that models will read. */
export const scanFinding = object(
  {
    severity: oneOf('info', 'warning', 'blocker'),
    code: string({ description: 'Kind of the finding, such as `prompt_injection`, `hidden_text` or `secret`.' }),
    path: string({ description: 'File of the skill, or field of the definition of a tool.' }),
    line: integer({ min: 1 }),
    message: string(),
  },
  {
    title: 'SkillFinding',
    description: 'A finding of a scan. A `blocker` prevents the publication of a skill.',
  },
)

const override = object(
  {
    code: string({ minLength: 1, maxLength: 128, description: 'Code of the blockers that are accepted.' }),
    reason: string({ minLength: 1, maxLength: 1024, description: 'Reason, stored in the audit log.' }),
  },
  { title: 'SkillOverride', description: 'Blockers that are accepted, with the reason.' },
)

const publishBody = object({
  override: optional(
    described(
      array(override, { maxItems: 50 }),
      'Blockers to accept. Only dashboard admins may set it; it is recorded in the audit log.',
    ),
  ),
})

const file = object({
  path: string({ description: 'Path within the skill.' }),
  bytes: integer(),
  sha256: string(),
})

const versionFields = {
  id: id('skv'),
  skill_id: id('skl'),
  version: semver,
  status: oneOf('draft', 'published', 'deprecated'),
  description,
  files: described(array(file), 'Files of the version, including `SKILL.md`.'),
  findings: described(array(scanFinding), 'Findings of the scan, at most 500.'),
  overrides: described(array(override), 'Blockers that were accepted when it was published.'),
  created_by: string(),
  published_at: nullable(timestamp()),
  deprecated_at: nullable(timestamp()),
  created_at: described(timestamp(), 'Time at which the resource was created.'),
  updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
}

const version = object(versionFields, {
  title: 'SkillVersion',
  description: 'A version of a skill. Its files never change.',
})

const versionWithContent = object(
  { ...versionFields, content: string({ description: 'Text of `SKILL.md`.' }) },
  { title: 'SkillVersionWithContent', description: 'A version of a skill, with its instructions.' },
)

const sentFile = object({
  path: string({
    minLength: 1,
    maxLength: 256,
    pattern: '^(?!/)(?!.*(?:^|/)\\.\\.?(?:/|$))(?!.*//)[^\\\\\\u0000-\\u001f]*[^/\\\\\\u0000-\\u001f]$',
    description: 'Path within the skill, such as `scripts/report.py`.',
  }),
  content: string({ maxLength: 2 * maxSkillArchive }),
  encoding: described(defaulted(oneOf('utf8', 'base64'), 'utf8'), 'Encoding of `content`.'),
})

const versions = '/v1/skills/{skill_id}/versions'
const one = `${versions}/{version}`

/** Versions of skills. They are scanned when drafted, and can be published when no finding blocks them. */
export const skillVersions = defineOperations('skill_versions', {
  list: {
    summary: 'List versions of a skill',
    description: 'Newest first, without their content.',
    method: 'GET',
    path: versions,
    access,
    query: { ...cursorQuery, status: optional(oneOf('draft', 'published', 'deprecated')) },
    answer: isJsonResponse(cursorPage(version)),
  },
  create: {
    summary: 'Create a draft version of a skill',
    description: 'The files are scanned, and `findings` lists the results. A version number cannot be reused.',
    method: 'POST',
    path: versions,
    access,
    body: object({
      version: semver,
      content: string({ minLength: 1, maxLength: maxSkillText, description: 'Text of `SKILL.md`.' }),
      files: optional(described(array(sentFile, { maxItems: maxSkillFiles }), 'Files in addition to `SKILL.md`.')),
    }),
    maxBodyBytes: 2 * maxSkillArchive,
    answer: isJsonResponse(versionWithContent, { status: 201 }),
    errors: ['already_exists'],
  },
  get: {
    summary: 'Retrieve a version of a skill',
    description: 'Includes the text of its `SKILL.md`.',
    method: 'GET',
    path: one,
    access,
    answer: isJsonResponse(versionWithContent, { maxBytes: maxAnswerBytes }),
  },
  file: {
    summary: 'Retrieve a file of a version',
    description: 'Returns one file of the version, as text or as base64.',
    method: 'GET',
    path: `${one}/files/{path}`,
    slashesInLast: true,
    access,
    answer: isJsonResponse(
      object(
        { path: string(), bytes: integer(), encoding: oneOf('utf8', 'base64'), content: string() },
        { title: 'SkillFile', description: 'A file of a skill.' },
      ),
      { maxBytes: maxAnswerBytes },
    ),
  },
  publish: {
    summary: 'Publish a version of a skill',
    description: 'Refused with `scan_blocked` if the scan found a blocker that `override` does not accept.',
    method: 'POST',
    path: `${one}/publish`,
    access: publishAccess,
    body: publishBody,
    answer: isJsonResponse(version),
    errors: ['invalid_transition', 'scan_blocked'],
  },
  deprecate: {
    summary: 'Deprecate a published version of a skill',
    description: 'Agents that do not pin a version use the newest version that is not deprecated.',
    method: 'POST',
    path: `${one}/deprecate`,
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(version),
    errors: ['invalid_transition'],
  },
})

const skillImport = object(
  {
    id: id('imp', 'ski'),
    status: described(
      oneOf('staged', 'published', 'rejected'),
      'Status of the import. An import is never published automatically.',
    ),
    source: oneOf('text', 'url', 'archive'),
    url: described(nullable(string()), 'URL from which it was fetched.'),
    name: described(nullable(string()), 'Name of the skill as stated in its `SKILL.md`.'),
    description: nullable(string()),
    files: array(file),
    findings: array(scanFinding),
    blocked: described(boolean(), 'Whether a finding is a blocker.'),
    skill_id: described(nullable(id('skl')), 'Skill of which it becomes a version; null for a new skill.'),
    version: described(nullable(string()), 'Version number that it will have.'),
    created_by: string(),
    created_at: described(timestamp(), 'Time at which the resource was created.'),
    updated_at: described(timestamp(), 'Time at which the resource was last updated.'),
  },
  { title: 'SkillImport', description: 'An imported skill, staged for review.' },
)

const imports = '/v1/skill-imports'

/** Imports of skills, which are staged with their findings and published after a review. */
export const skillImports = defineOperations('skill_imports', {
  create: {
    summary: 'Stage an import of a skill',
    description:
      'Takes exactly one of `text`, `url` and `archive`. An archive is a zip or tar.gz file of at most 5 MB with `SKILL.md` at its root or one folder below. Nothing is published.',
    method: 'POST',
    path: imports,
    access,
    body: object({
      text: optional(string({ minLength: 1, maxLength: maxSkillText, description: 'Text of a `SKILL.md`.' })),
      url: optional(
        string({ maxLength: 2048, pattern: '^https?://', description: 'URL of a `SKILL.md` file or of an archive.' }),
      ),
      archive: optional(
        string({
          maxLength: 2 * maxSkillArchive,
          pattern: '^[A-Za-z0-9+/]*={0,2}$',
          description: 'Archive in base64.',
        }),
      ),
      skill_id: optional(id('skl')),
      version: described(
        optional(semver),
        'Version to publish it as. Default: `1.0.0`, or the next patch of the skill.',
      ),
    }),
    maxBodyBytes: 2 * maxSkillArchive,
    answer: isJsonResponse(skillImport, { status: 201 }),
    errors: ['fetch_failed'],
  },
  list: {
    summary: 'List imports of skills',
    description: 'Newest first. `status=staged` lists the imports that wait for a decision.',
    method: 'GET',
    path: imports,
    access,
    query: { ...cursorQuery, status: optional(oneOf('staged', 'published', 'rejected')) },
    answer: isJsonResponse(cursorPage(skillImport)),
  },
  get: {
    summary: 'Retrieve an import of a skill',
    description: 'Returns the staged content with the findings of its scan, on which its publication is decided.',
    method: 'GET',
    path: `${imports}/{import_id}`,
    access,
    answer: isJsonResponse(skillImport),
  },
  publish: {
    summary: 'Publish an import of a skill',
    description:
      'Creates a published version of the skill, and the skill itself if it is new. Refused with `scan_blocked` if the scan found a blocker that `override` does not accept.',
    method: 'POST',
    path: `${imports}/{import_id}/publish`,
    access: publishAccess,
    body: publishBody,
    answer: isJsonResponse(skillImport),
    errors: ['invalid_transition', 'scan_blocked', 'already_exists'],
  },
  reject: {
    summary: 'Reject an import of a skill',
    description:
      'The import ends without a version of a skill. An import that is published or rejected already is refused with `invalid_transition`.',
    method: 'POST',
    path: `${imports}/{import_id}/reject`,
    access: secretKeyOrDashboard('admin'),
    answer: isJsonResponse(skillImport),
    errors: ['invalid_transition'],
  },
})

declare module '../index.ts' {
  interface Resources {
    readonly skills: typeof skills
    readonly skillVersions: typeof skillVersions
    readonly skillImports: typeof skillImports
  }
}
