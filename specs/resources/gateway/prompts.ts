import { secretKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { defineResource } from '#specs/dsl/resource.ts'
import { array, constant, described, nullable, object, optional, string, timestamp } from '#specs/dsl/schema.ts'
import { promptTemplate, promptVersion } from './shapes/prompt-shapes.ts'

const path = '/v1/prompts'
const versions = `${path}/{prompt_id}/versions`
const access = secretKeyOrDashboard('member')
const description = optional(nullable(string({ maxLength: 4096 })))

/** Named prompts, whose versions model calls and agents use. */
export const prompts = defineResource('prompts', {
  path,
  key: 'prompt_id',
  idPrefix: 'pmpt',
  title: 'Prompt',
  description: 'A named prompt. Its versions hold the messages, and never change.',
  fields: {
    name: string({ minLength: 1, maxLength: 256, description: 'Unique within the project.' }),
    description: nullable(string({ maxLength: 4096 })),
    default_version: nullable(
      string({
        ...{ pattern: '^[1-9]\\d{0,5}$' },
        description: 'Version of calls that name none. null: the newest version.',
      }),
    ),
    latest_version: nullable(string({ description: 'The newest version; null while there is none.' })),
  },
  writable: ['name', 'description', 'default_version'],
  access,
  operations: {
    list: {},
    create: {
      description: 'A new prompt has no versions.',
      errors: ['already_exists', 'not_found'],
    },
    get: { description: 'The messages are those of its versions, which `prompt_versions.list` returns.' },
    update: {
      description: 'Sets the name, the description or the default version, for instance to return to an earlier one.',
      errors: ['already_exists', 'not_found'],
    },
    delete: { description: 'Deletes the prompt with its versions. Calls and agents that name it are refused.' },
  },
})

const version = object(
  {
    prompt_id: string(),
    version: promptVersion,
    ...promptTemplate,
    description: nullable(string({ maxLength: 4096 })),
    created_at: described(timestamp(), 'Time at which the version was created.'),
    created_by: string({ description: 'Credential or member that created it.' }),
  },
  { title: 'PromptVersion', description: 'A version of a prompt. It never changes.' },
)

/** The versions of prompts. */
export const promptVersions = defineOperations('prompt_versions', {
  list: {
    summary: 'List the versions of a prompt',
    description: 'Newest first, all of them.',
    method: 'GET',
    path: versions,
    access,
    answer: isJsonResponse(object({ data: array(version) })),
  },
  create: {
    summary: 'Create a version of a prompt',
    description:
      'The number of the version is the next one. Calls use it if the prompt has no default version, or after it became that.',
    method: 'POST',
    path: versions,
    access,
    body: object({ ...promptTemplate, description }),
    answer: isJsonResponse(version, { status: 201 }),
    errors: ['bad_request'],
  },
  get: {
    summary: 'Retrieve a version of a prompt',
    description: 'Returns its messages with their variables, the default values and the settings.',
    method: 'GET',
    path: `${versions}/{prompt_version}`,
    access,
    answer: isJsonResponse(version),
  },
  delete: {
    summary: 'Delete a version of a prompt',
    description: 'Its number is not used again. The default version cannot be deleted.',
    method: 'DELETE',
    path: `${versions}/{prompt_version}`,
    access,
    answer: isJsonResponse(
      object({ prompt_id: string(), version: promptVersion, deleted: described(constant(true), 'Always true.') }),
    ),
    errors: ['bad_request'],
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly prompts: typeof prompts
    readonly promptVersions: typeof promptVersions
  }
}
