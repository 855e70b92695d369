import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import type { Call } from '../call/call.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import { actorOf } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import type { Notice } from '../records/notices.ts'
import { pageOf } from '../records/pages.ts'
import type { Row } from '../records/schema.ts'
import { newIdFor } from '../runtime/internal.ts'
import { type Override, type SkillVersionData, skillStatus } from './kinds.ts'
import type { SkillReader } from './review/skill-reader.ts'
import type { SkillReview } from './review/skill-review.ts'
import type { ScannedSkill } from './scanner/scanned-skill.ts'
import type { ArchivedFile } from './scanner/skill-archive.ts'
import type { SkillScanner } from './scanner/skill-scanner.ts'
import { type SkillFiles, skillFile } from './skill-files.ts'
import type { SkillVersions } from './skill-versions.ts'
import { versionView } from './skill-views.ts'

export interface SkillParts {
  readonly versions: SkillVersions
  readonly files: SkillFiles
  readonly scanner: Pick<SkillScanner, 'open' | 'scan'>
  readonly reader: Pick<SkillReader, 'findings'>
  readonly review: Pick<SkillReview, 'findings'>
}

/** Use-cases of the versions of skills: drafts, scans, publication and deprecation. */
export const skillVersionUseCases = (parts: SkillParts): UseCasesOf<'skill_versions'> => ({
  ...reading(parts),
  'skill_versions.create': async (call) => {
    const { scope, params, body } = call
    const skill = await parts.versions.skill(scope, params.skill_id)
    const sent = [
      { path: skillFile, base64: Buffer.from(body.content).toString('base64') },
      ...(body.files ?? []).map(sentFile),
    ]
    requireUnique(sent.map(({ path }) => path))
    const { findings, description } = await judged(parts, sent, scope)
    const id = newIdFor(call, 'skv')
    const row = await parts.versions.draft(scope, {
      id,
      skill_id: skill.id,
      version: body.version,
      description: description ?? skill.data.description,
      files: await parts.files.keep(scope.project, sent),
      findings,
      created_by: actorOf(call),
      notices: [new Audited(call, 'skill_version').line('created', id)],
    })
    return withContent(parts, row)
  },
  'skill_versions.publish': async (call) => {
    const { scope, params, body } = call
    const row = await parts.versions.find(scope, params.skill_id, params.version)
    const published = await parts.versions.publish(row, publishing(call, body.override ?? []))
    return versionView(published)
  },
  'skill_versions.deprecate': async (call) => {
    const { scope, params } = call
    const row = await parts.versions.find(scope, params.skill_id, params.version)
    const audited = new Audited(call, 'skill_version')
    return versionView(await parts.versions.deprecate(row, (id) => [audited.line('deprecated', id)]))
  },
})

/**
 * Scans the files of a skill, has its passages read by the model of this machine, then has them reviewed by the project's model, if
 * it has chosen one: a scan that is refused costs no call of a model.
 */
export const judged = async (
  { scanner, reader, review }: Pick<SkillParts, 'reader' | 'review'> & { readonly scanner: Pick<SkillScanner, 'scan'> },
  files: readonly ArchivedFile[],
  scope: Scope,
): Promise<Omit<ScannedSkill, 'reading'>> => {
  const { reading, findings, ...front } = await scanner.scan(files, scope)
  const read = await reader.findings(reading, scope)
  return { ...front, findings: [...findings, ...read, ...(await review.findings(files, scope))] }
}

/**
 * Returns the blockers that the caller accepts, with the entries for the audit log.
 *
 * @throws {ServiceError} `forbidden` when the caller is not an admin of the dashboard
 */
export const publishing = (
  call: Pick<Call<unknown, unknown, unknown>, 'principal' | 'remoteAddress'>,
  override: readonly Override[],
) => {
  if (override.length > 0 && call.principal.kind !== 'dashboard') {
    const message = 'Only an admin of the dashboard can accept blockers.'
    throw new ServiceError('forbidden', { param: 'override', message })
  }
  const audited = new Audited(call, 'skill_version')
  const codes = override.map(({ code }) => `override:${code}`)
  const reason = override.map((each) => `${each.code}: ${each.reason}`).join('; ')
  const noticesOf = (id: string): readonly Notice[] => [
    { ...audited.line('published', id, codes), ...(reason !== '' && { reason }) },
  ]
  return { override, noticesOf }
}

const reading = ({ versions, files }: SkillParts) =>
  ({
    'skill_versions.list': async ({ scope, params, query: { status, ...query } }) => {
      const skill = await versions.skill(scope, params.skill_id)
      const where = status === undefined ? { skill_id: skill.id } : { skill_status: skillStatus(skill.id, status) }
      const shown = { idPrefix: 'skv', view: versionView }
      return pageOf(versions.table, projectScope(scope.project), { query: { ...query, where }, shown })
    },
    'skill_versions.get': async ({ scope, params }) =>
      withContent({ files }, await versions.find(scope, params.skill_id, params.version)),
    'skill_versions.file': async ({ scope, params }) => {
      const row = await versions.find(scope, params.skill_id, params.version)
      const file = row.data.files.find(({ path }) => path === params.path)
      const known = file === undefined ? null : await files.read(scope.project, file)
      const { path, bytes, encoding, content } = orNotFound(known, 'path', 'There is no such file.')
      return { path, bytes, encoding, content }
    },
  }) satisfies Partial<UseCases>

const withContent = async ({ files }: Pick<SkillParts, 'files'>, row: Row<SkillVersionData>) => {
  const file = row.data.files.find(({ path }) => path === skillFile)
  const read = file === undefined ? null : await files.read(row.project, file)
  return { ...versionView(row), content: read?.content ?? '' }
}

const sentFile = (
  {
    path,
    content,
    encoding,
  }: { readonly path: string; readonly content: string; readonly encoding: 'utf8' | 'base64' },
  index: number,
) => {
  if (encoding === 'utf8') return { path, base64: Buffer.from(content).toString('base64') }
  if (/^[A-Za-z0-9+/]*={0,2}$/u.test(content)) return { path, base64: content }
  throw invalidField(`files[${index}].content`, 'The content is not base64.')
}

const requireUnique = (paths: readonly string[]): void => {
  const seen = new Set<string>()
  for (const [index, path] of paths.entries()) {
    const name = path.normalize('NFC').toLowerCase()
    if (seen.has(name)) {
      throw invalidField(`files[${index - 1}].path`, 'Two files have this path.')
    }
    seen.add(name)
  }
}
