import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { BodyOf } from '#specs/index.ts'
import { projectScope, type Scope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCases, UseCasesOf } from '../call/use-cases.ts'
import { actorOf } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { pageOf } from '../records/pages.ts'
import { RowTurns } from '../records/row-turns.ts'
import type { Row } from '../records/schema.ts'
import type { Table } from '../records/table.ts'
import { newIdFor } from '../runtime/internal.ts'
import { fetchSkill } from './fetch-skill.ts'
import type { Override, SkillImportData } from './kinds.ts'
import type { ArchivedFile } from './scanner/skill-archive.ts'
import { skillFile } from './skill-files.ts'
import { requireUnblocked } from './skill-versions.ts'
import { importView } from './skill-views.ts'
import { judged, publishing, type SkillParts } from './version-use-cases.ts'

export interface ImportParts extends SkillParts {
  readonly imports: Table<SkillImportData>
  readonly guard: Pick<SsrfGuard, 'request'>
}

type ImportCall = Parameters<UseCases['skill_imports.publish']>[0]

/** Use-cases of imported skills, which are staged with their findings and published after a review. */
export const skillImportUseCases = (parts: ImportParts): UseCasesOf<'skill_imports'> => {
  const turns = new RowTurns()
  return {
    'skill_imports.create': async (call) => {
      const { scope, body } = call
      const source = sourceOf(body)
      if (body.skill_id !== undefined) await parts.versions.skill(scope, body.skill_id)
      const files = await filesOf(parts, body, scope)
      const { findings, name, description } = await judged(parts, files, scope)
      const id = newIdFor(call, 'imp')
      const data = {
        ...({ status: 'staged', source, url: body.url ?? null, name, description, findings } as const),
        files: await parts.files.keep(scope.project, files),
        skill_id: body.skill_id ?? null,
        version: body.version ?? null,
        created_by: actorOf(call),
      }
      const notices = [new Audited(call, 'skill_import').line('staged', id)]
      const made = await parts.imports.insert({ id, project: scope.project, data, notices })
      return importView(made ?? (await found(parts, scope, id)))
    },
    'skill_imports.list': ({ scope, query: { status, ...query } }) =>
      pageOf(parts.imports, projectScope(scope.project), {
        query: { ...query, ...(status !== undefined && { where: { status } }) },
        shown: { idPrefix: 'imp', olderIdPrefix: 'ski', view: importView },
      }),
    'skill_imports.get': async ({ scope, params }) => importView(await found(parts, scope, params.import_id)),
    'skill_imports.publish': (call) => turns.take(call.params.import_id, () => publish(parts, call)),
    'skill_imports.reject': async (call) => {
      const { scope, params } = call
      return importView(
        await moved(parts, await found(parts, scope, params.import_id), {
          edit: (data) => ({ ...undecided(data), status: 'rejected' }),
          notices: [new Audited(call, 'skill_import').line('rejected', params.import_id)],
        }),
      )
    },
  }
}

const found = async ({ imports }: ImportParts, { project }: Scope, id: string): Promise<Row<SkillImportData>> =>
  orNotFound(await imports.get(projectScope(project), id), 'import_id', 'There is no such import.')

const sourceOf = ({ text, url, archive }: BodyOf<'skill_imports.create'>): SkillImportData['source'] => {
  const given = Object.entries({ text, url, archive }).filter(([, value]) => value !== undefined)
  if (given.length === 1) return text !== undefined ? 'text' : url !== undefined ? 'url' : 'archive'
  if (given.length === 0)
    throw new ServiceError('missing_field', { param: 'text', message: 'Send text, url or archive.' })
  throw invalidField(given[1]?.[0] ?? 'url', 'Send exactly one of text, url and archive.')
}

const filesOf = async (
  { guard, scanner }: ImportParts,
  { text, url, archive }: BodyOf<'skill_imports.create'>,
  scope: Scope,
): Promise<readonly ArchivedFile[]> => {
  if (text !== undefined) return [{ path: skillFile, base64: Buffer.from(text).toString('base64') }]
  if (archive !== undefined) return scanner.open(Buffer.from(archive, 'base64'), 'archive', scope)
  const bytes = await fetchSkill(guard, url ?? '')
  const isArchive = bytes[0] === 0x1f || (bytes[0] === 0x50 && bytes[1] === 0x4b)
  return isArchive ? scanner.open(bytes, 'url', scope) : [{ path: skillFile, base64: bytes.toString('base64') }]
}

/** Requires a staged import. @throws {ServiceError} `invalid_transition` when it was already published or rejected */
const staged = (data: SkillImportData): SkillImportData => {
  if (data.status === 'staged') return data
  throw new ServiceError('invalid_transition', {
    message: `The import is ${data.status}; only a staged one can be decided. Import it again.`,
  })
}

/** Requires an import that is not being published. @throws {ServiceError} `invalid_transition` */
const undecided = (data: SkillImportData): SkillImportData => {
  if (staged(data).publishing !== true) return data
  throw new ServiceError('invalid_transition', {
    message: 'The import is being published. Wait until it is published.',
  })
}

/**
 * Publishes an import. The decision is noted first, so that the import cannot be rejected meanwhile, and withdrawn if the
 * publication is refused.
 */
const publish = async (parts: ImportParts, call: ImportCall) => {
  const { scope, params, body } = call
  const known = await found(parts, scope, params.import_id)
  const override: readonly Override[] = body.override ?? []
  const publication = publishing(call, override)
  requireUnblocked(staged(known.data), override)
  const row = await noted(parts, known, true)
  try {
    return await published(parts, call, { row, publication })
  } catch (error) {
    if (error instanceof ServiceError) await noted(parts, row, false)
    throw error
  }
}

/** Stores whether the import is being published. */
const noted = async (
  { imports }: ImportParts,
  row: Row<SkillImportData>,
  isPublishing: boolean,
): Promise<Row<SkillImportData>> => {
  const edit = ({ data }: Row<SkillImportData>): SkillImportData | null => {
    if (isPublishing) return staged(data).publishing === true ? null : { ...data, publishing: true }
    const { publishing: was, ...rest } = data
    return was === true && data.status === 'staged' ? rest : null
  }
  return (await imports.change(projectScope(row.project), row.id, { edit })) ?? row
}

/**
 * Creates the skill, its version and the publication, each once. Their ids are derived from the import's, so that a
 * request that is repeated after a crash continues where the first one stopped.
 */
const published = async (
  parts: ImportParts,
  call: ImportCall,
  { row, publication }: { readonly row: Row<SkillImportData>; readonly publication: ReturnType<typeof publishing> },
) => {
  const { scope } = call
  const skillId = row.data.skill_id ?? (await newSkill(parts, call, row))
  const version = row.data.version ?? (await nextVersion(parts, row, skillId))
  const id = idBeside(row.id, 'skv')
  const draft = await parts.versions.draft(scope, {
    id,
    skill_id: skillId,
    version,
    description: row.data.description ?? '',
    files: row.data.files,
    findings: row.data.findings,
    created_by: actorOf(call),
    notices: [new Audited(call, 'skill_version').line('created', id)],
  })
  if (draft.data.status === 'draft') await parts.versions.publish(draft, publication)
  const done = await moved(parts, row, {
    edit: ({ publishing: _, ...data }) => ({
      ...staged(data),
      status: 'published',
      skill_id: skillId,
      version: draft.data.version,
    }),
    notices: [new Audited(call, 'skill_import').line('published', row.id)],
  })
  return importView(done)
}

const newSkill = async (
  { versions }: ImportParts,
  call: ImportCall,
  { id, project, data }: Row<SkillImportData>,
): Promise<string> => {
  if (data.name === null) {
    const message = 'SKILL.md has no name: send skill_id.'
    throw invalidField('skill_id', message)
  }
  const skillId = idBeside(id, 'skl')
  const skill = { name: data.name, description: data.description ?? data.name, metadata: {}, candidates: [] }
  const notices = [new Audited(call, 'skill').line('created', skillId)]
  const made = await versions.skills.insert({ id: skillId, project, data: skill, notices })
  if (made !== null || (await versions.skills.get(projectScope(project), skillId)) !== null) return skillId
  const message = `A skill with the name ${data.name} exists. To import a version of it, send its skill_id.`
  throw new ServiceError('already_exists', { param: 'skill_id', message })
}

/** Returns the next patch of the highest version; the version of this import if it was already created. */
const nextVersion = async ({ versions }: ImportParts, row: Row<SkillImportData>, skillId: string): Promise<string> => {
  const own = await versions.table.get(projectScope(row.project), idBeside(row.id, 'skv'))
  if (own !== null) return own.data.version
  const [highest] = await versions.numbers(row.project, skillId)
  if (highest === undefined) return '1.0.0'
  const [major, minor, patch] = highest.split(/[-+]/u, 1).join('').split('.').map(Number)
  return `${major}.${minor}.${(patch ?? 0) + 1}`
}

const idBeside = (importId: string, prefix: string): string => `${prefix}_${importId.slice(importId.indexOf('_') + 1)}`

const moved = async (
  { imports }: ImportParts,
  row: Row<SkillImportData>,
  {
    edit,
    notices,
  }: { readonly edit: (data: SkillImportData) => SkillImportData; readonly notices: ReturnType<Audited['line']>[] },
): Promise<Row<SkillImportData>> => {
  const change = { edit: (now: Row<SkillImportData>) => edit(now.data), notices: () => notices }
  return orNotFound(await imports.change(projectScope(row.project), row.id, change), 'import_id')
}
