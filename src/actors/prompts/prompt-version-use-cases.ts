import { ServiceError } from '#specs/errors/errors.ts'
import type { BodyOf, ResultOf } from '#specs/index.ts'
import { maxTemplateChars } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import { orNotFound } from '../call/not-found.ts'
import type { UseCasesOf } from '../call/use-cases.ts'
import type { Services } from '../capability/services.ts'
import { actorOf } from '../records/audit-note.ts'
import { Audited } from '../records/audited.ts'
import { timestampOf } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { newIdFor } from '../runtime/internal.ts'
import type { PromptData, PromptTemplate, PromptVersionData } from './kinds.ts'
import { type StoredPrompts, versionOf } from './stored-prompts.ts'

/** Maximum number of versions of a prompt, and of characters of all of them: they are one document of the store. */
const maxVersions = 200
const maxChars = 2_000_000

/** Use-cases of the versions of prompts. */
export const promptVersionUseCases = (
  stored: StoredPrompts,
  { now }: Pick<Services, 'now'>,
): UseCasesOf<'prompt_versions'> => ({
  'prompt_versions.list': async ({ scope, params }) => {
    const { id, data } = await stored.find(scope, params.prompt_id)
    return { data: data.versions.toReversed().map((version) => viewOf(id, version)) }
  },
  'prompt_versions.get': async ({ scope, params }) => {
    const { id, data } = await stored.find(scope, params.prompt_id)
    return viewOf(id, found(versionOf(data.versions, params.prompt_version)))
  },
  'prompt_versions.create': async (call) => {
    const { scope, params, body } = call
    const version = {
      ...{ id: newIdFor(call, 'pmv'), template: templateOf(body), description: body.description ?? null },
      ...{ created_by: actorOf(call), created_at_ms: now() },
    }
    const row = await stored.change(scope, params.prompt_id, {
      edit: ({ data }) => (data.versions.some(({ id }) => id === version.id) ? null : withVersion(data, version)),
      notices: noticesOf(call, 'version_created'),
    })
    return viewOf(row.id, found(row.data.versions.find(({ id }) => id === version.id)))
  },
  'prompt_versions.delete': async (call) => {
    const { scope, params } = call
    const row = await stored.change(scope, params.prompt_id, {
      edit: ({ data }) => without(data, params.prompt_version),
      notices: noticesOf(call, 'version_deleted'),
    })
    return { prompt_id: row.id, version: params.prompt_version, deleted: true as const }
  },
})

const noticesOf = (call: ConstructorParameters<typeof Audited>[0], done: string) => {
  const audited = new Audited(call, 'prompt')
  return ({ id }: Row<PromptData>) => [audited.line(done, id)]
}

const templateOf = ({ description: _description, ...template }: BodyOf<'prompt_versions.create'>): PromptTemplate => {
  const length = template.messages.reduce((sum, { content }) => sum + content.length, 0)
  if (length <= maxTemplateChars) return template
  const message = `The messages of a version can have at most ${maxTemplateChars} characters.`
  throw new ServiceError('bad_request', { param: 'messages', message })
}

const withVersion = (data: PromptData, version: Omit<PromptVersionData, 'number'>): PromptData => {
  const number = data.latest + 1
  const versions = [...data.versions, { ...version, number }]
  if (versions.length > maxVersions || JSON.stringify(versions).length > maxChars) {
    const message = `A prompt can have at most ${maxVersions} versions with ${maxChars} characters in total. Delete some.`
    throw new ServiceError('bad_request', { message })
  }
  return { ...data, versions, latest: number }
}

const without = (data: PromptData, number: string): PromptData => {
  const version = found(versionOf(data.versions, number))
  if (data.default_version === number) {
    const message = 'This is the default version of the prompt. Choose another one first.'
    throw new ServiceError('bad_request', { param: 'prompt_version', message })
  }
  return { ...data, versions: data.versions.filter((each) => each !== version) }
}

const found = <T>(row: T | null | undefined): T => orNotFound(row, 'prompt_version')

const viewOf = (prompt: string, version: PromptVersionData): ResultOf<'prompt_versions.get'> => ({
  ...{ prompt_id: prompt, version: String(version.number), ...version.template, description: version.description },
  ...{ created_at: timestampOf(version.created_at_ms), created_by: version.created_by.id ?? version.created_by.kind },
})
