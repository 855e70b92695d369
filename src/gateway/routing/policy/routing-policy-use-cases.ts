import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { settingUseCases } from '#actors/capability/project-setting.ts'
import type { Services } from '#actors/capability/services.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RoutingRule } from '#specs/resources/gateway/routing-policy.ts'
import type { Routing } from '../open-routing.ts'
import { poolPolicies } from './pool-policies.ts'

/** Use-cases of the routing policy of a project. */
export const routingPolicyUseCases = (
  parts: Pick<Services, 'records' | 'now'>,
  { own, routes }: Pick<Routing, 'own' | 'routes'>,
): UseCasesOf<'routing_policy'> => {
  const stored = settingUseCases('routing_policy', poolPolicies(parts), { changed: (project) => own.changed(project) })
  return {
    ...stored,
    'routing_policy.update': async (call) => {
      const { rules = [] } = call.body
      checkRules(rules)
      for (const [at, { model, shadow_model }] of rules.entries())
        for (const [field, name] of Object.entries({ model, shadow_model }))
          if (name !== undefined) await checkModel(routes, call.scope.project, { name, at: `rules[${at}].${field}` })
      return stored['routing_policy.update'](call)
    },
  }
}

const invalid = (param: string, message: string, cause?: unknown): ServiceError =>
  new ServiceError('invalid_field', { param, message, cause })

/** @throws {ServiceError} `invalid_field` */
const checkRules = (rules: readonly RoutingRule[]): void => {
  const names = new Set<string>()
  for (const [at, { name, model, shadow_model, when }] of rules.entries()) {
    if (names.has(name)) throw invalid(`rules[${at}].name`, 'The name is that of an earlier rule.')
    names.add(name)
    if (model === undefined && shadow_model === undefined)
      throw invalid(`rules[${at}].model`, 'A rule needs model, shadow_model, or both.')
    if (when?.min_bytes !== undefined && when.max_bytes !== undefined && when.min_bytes > when.max_bytes)
      throw invalid(`rules[${at}].when.max_bytes`, 'max_bytes is less than min_bytes.')
  }
}

/** @throws {ServiceError} `invalid_field` for a model that no provider of the project serves. */
const checkModel = async (
  routes: Routing['routes'],
  project: string,
  { name, at }: { readonly name: string; readonly at: string },
): Promise<void> => {
  try {
    await routes.resolve(project, name, 'chat')
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'store_unavailable') throw error
    throw invalid(at, `No provider of the project serves the model ${name}.`, error)
  }
}
