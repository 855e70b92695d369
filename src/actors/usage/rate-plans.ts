import { ratePlans as declaration } from '#specs/resources/rate-plans.ts'
import { plainResource } from '../capability/plain-resource.ts'
import { ratePlans as kind } from './kinds.ts'

/** Use-cases of rate plans, by which tenants are charged. Plans are created and listed, but never changed. */
export const ratePlans = plainResource({
  name: 'rate_plans',
  declaration,
  kind,
  idPrefix: 'rp',
  key: 'rate_plan_id',
  noun: 'rate_plan',
  data: (body) => ({ ...body, description: body.description ?? null }),
})
