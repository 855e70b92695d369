import type { AgentResource } from '#actors/capability/agent-resources.ts'
import { plainResource } from '#actors/capability/plain-resource.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { guardrails as declaration, type GuardCheck } from '#specs/resources/gateway/guardrails.ts'
import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import { prepared } from './guard-set.ts'
import { type GuardrailData, guardrailKind } from './kinds.ts'
import type { StoredGuardrails } from './stored-guardrails.ts'

const maxSchemaChars = 32 * 1024

/** Unicode classes of all patterns: each takes a fifth of a ms and more to be compiled, from some thousand ranges. */
const maxClasses = 128

/** @throws {ServiceError} `invalid_field` for checks that cannot be made. */
export const requireUsable = async (checks: readonly GuardCheck[] = []): Promise<void> => {
  let classes = 0
  for (const each of checks) {
    if (each.type === 'http' && !URL.parse(each.url)?.protocol.startsWith('http'))
      throw unusable(`The URL '${each.url}' is none of HTTP.`)
    if (each.type === 'json_schema' && JSON.stringify(each.schema).length > maxSchemaChars)
      throw unusable('The schema is larger than 32 KB.')
    classes += each.type === 'regex' ? each.patterns.join().split(/\\p/i).length - 1 : 0
    if (classes > maxClasses) throw unusable(`The patterns have more than ${maxClasses} Unicode classes.`)
  }
  await runInSlices(prepared('', checks))
}

const unusable = (message: string): ServiceError => new ServiceError('invalid_field', { param: 'checks', message })

/** Guardrails, by their names. */
export const guardrailResource = plainResource({
  declaration,
  kind: guardrailKind,
  uniqueField: 'name',
  data: ({ name, description = null, is_default = false, checks }): GuardrailData => ({
    ...{ name, description, is_default, checks: checks.map((each) => ({ ...each })) },
  }),
  checkBody: ({ checks }) => requireUsable(checks),
})

/** Guardrails in the config of agents: an agent whose guardrail is gone does not run. */
export const agentGuardrails = (stored: Pick<StoredGuardrails, 'missing'>): AgentResource => ({
  name: 'guardrails',
  fields: ['guardrails'],
  missing: async ({ project }, declared) => {
    const gone = await stored.missing(project, Array.isArray(declared) ? declared.map(String) : [])
    return gone === null ? null : `There is no guardrail '${gone}'.`
  },
  offer: async () => ({ instructions: [], tools: [] }),
  run: async () => ({ ok: false, code: 'not_found', message: 'Guardrails have no tools.' }),
})
