import type { AgentResource } from '#actors/capability/agent-resources.ts'
import { plainResource } from '#actors/capability/plain-resource.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { guardrails as declaration } from '#specs/resources/gateway/guardrails.ts'
import { guardSet } from './guard-set.ts'
import { type GuardrailData, guardrailKind } from './kinds.ts'
import type { StoredGuardrails } from './stored-guardrails.ts'

const maxSchemaChars = 32 * 1024

/** @throws {ServiceError} `invalid_field` for checks that cannot be made. */
const check = ({ name, checks }: GuardrailData): void => {
  guardSet([{ id: '', name, isDefault: false, checks }])
  for (const each of checks) {
    if (each.type === 'http' && !URL.parse(each.url)?.protocol.startsWith('http'))
      throw new ServiceError('invalid_field', { param: 'checks', message: `The URL '${each.url}' is none of HTTP.` })
    if (each.type === 'json_schema' && JSON.stringify(each.schema).length > maxSchemaChars)
      throw new ServiceError('invalid_field', { param: 'checks', message: 'The schema is larger than 32 KB.' })
  }
}

/** Guardrails, by their names. */
export const guardrailResource = plainResource({
  declaration,
  kind: guardrailKind,
  uniqueField: 'name',
  data: ({ name, description = null, is_default = false, checks }) => {
    const data: GuardrailData = { name, description, is_default, checks: checks.map((each) => ({ ...each })) }
    check(data)
    return data
  },
  check,
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
