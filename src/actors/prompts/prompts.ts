import { ServiceError } from '#specs/errors/errors.ts'
import { prompts as declaration, promptVersions as versions } from '#specs/resources/gateway/prompts.ts'
import { agentResources } from '../capability/agent-resources.ts'
import { capability } from '../capability/capability.ts'
import { plainResource } from '../capability/plain-resource.ts'
import { promptService } from '../capability/prompt-service.ts'
import { agentPrompts } from './agent-prompts.ts'
import { type PromptData, promptKind } from './kinds.ts'
import { promptVersionUseCases } from './prompt-version-use-cases.ts'
import { StoredPrompts, versionOf } from './stored-prompts.ts'

const checkDefault = ({ versions, default_version }: PromptData): void => {
  if (default_version === null || versionOf(versions, default_version) !== undefined) return
  const message = `The prompt has no version ${default_version}.`
  throw new ServiceError('not_found', { param: 'default_version', message })
}

/** Prompts, by their names. */
export const prompts = plainResource({
  declaration,
  kind: promptKind,
  uniqueField: 'name',
  data: ({ name, description = null, default_version = null }) => {
    const data: PromptData = { name, description, default_version, latest: 0, versions: [] }
    checkDefault(data)
    return data
  },
  check: checkDefault,
  view: ({ data: { name, description, default_version, versions } }) => {
    const newest = versions.at(-1)
    return { name, description, default_version, latest_version: newest === undefined ? null : String(newest.number) }
  },
})

/** Versions of prompts, and prompts as model calls and agents use them. */
export const promptVersions = capability({
  name: 'prompt_versions',
  operations: versions,
  kinds: [],
  open: (services) => {
    const stored = new StoredPrompts(services.records, services.now)
    promptService.give(services, stored)
    agentResources.give(services, agentPrompts(stored))
    return { useCases: promptVersionUseCases(stored, services) }
  },
})
