import { ServiceError } from '#specs/errors/errors.ts'
import type { PromptReference } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import type { Json } from '#storage/index.ts'
import type { AgentResource } from '../capability/agent-resources.ts'
import type { FilledPrompt, PromptService } from '../capability/prompt-service.ts'
import { isObject } from '../runtime/index.ts'

/** Roles whose messages instruct an agent. Its conversation is that of its users. */
const instructing: ReadonlySet<Json | undefined> = new Set(['system', 'developer'])

/**
 * Stored prompts in the config of agents: their instructions follow those of the config. An agent whose prompt is gone does not
 * run: without it, it would behave in another way than its author intended.
 */
export const agentPrompts = (prompts: PromptService): AgentResource => ({
  name: 'prompts',
  fields: ['prompts'],
  missing: ({ project }, declared) =>
    prompts.filled(project, referenceOf(declared)).then(
      () => null,
      (error: unknown) => reasonOf(error).message,
    ),
  offer: async ({ project }, declared) => {
    const filled = declared.map((each) => prompts.filled(project, referenceOf(each)))
    const found = await Promise.all(filled).catch((error: unknown) => {
      const { message } = reasonOf(error)
      throw new ServiceError('agent_not_runnable', { param: 'config.prompts', message, cause: error })
    })
    return { instructions: found.flatMap(textsOf), tools: [] }
  },
  run: async () => ({ ok: false, code: 'not_found', message: 'Prompts have no tools.' }),
})

/** @throws any error that is not about the reference */
const reasonOf = (error: unknown): ServiceError => {
  if (error instanceof ServiceError) return error
  throw error
}

const textsOf = ({ messages }: FilledPrompt): readonly string[] =>
  messages.flatMap(({ role, content }) => (instructing.has(role) && typeof content === 'string' ? [content] : []))

/** The config of an agent was validated when it was stored. */
const referenceOf = (declared: Json): PromptReference => {
  const { id = '', version, variables } = isObject(declared) ? declared : {}
  return {
    id: String(id),
    ...(typeof version === 'string' && { version }),
    ...(isObject(variables) && {
      variables: Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)])),
    }),
  }
}
